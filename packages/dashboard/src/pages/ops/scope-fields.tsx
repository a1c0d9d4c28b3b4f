import { useId } from 'react';
import { Field, TextInput } from '../../ui/field.tsx';
import type { Reach, ScopeForm } from './control-scope.ts';
import type { OpsFilter } from './ops-search.ts';
import { choicesOf } from './ops-view.ts';
import type { Row } from './row-model.ts';

interface ScopeFieldsProps {
  readonly form: ScopeForm;
  readonly rows: ReadonlyMap<string, Row>;
  readonly onChange: (form: ScopeForm) => void;
}

type Part = 'org' | 'team' | 'agent' | 'run';

const parts: Readonly<Record<Reach, readonly Part[]>> = {
  all: [],
  org: ['org'],
  team: ['org', 'team'],
  agent: ['org', 'team', 'agent'],
  run: ['org', 'run'],
};

const labels: Readonly<Record<Part, string>> = { org: 'Org', team: 'Team', agent: 'Agent', run: 'Run' };

/** The names that the scope needs. Suggests names that have something in flight. */
export function ScopeFields({ form, rows, onChange }: ScopeFieldsProps) {
  const id = useId();
  const { reach } = form;
  const filter: OpsFilter = {
    ...(form.org === '' ? {} : { org_id: form.org }),
    ...(form.team === '' || reach === 'run' ? {} : { team_id: form.team }),
  };
  if (parts[reach].length === 0) return null;
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      {parts[reach].map((part) => (
        <Field
          key={part}
          label={part === 'org' && reach === 'run' ? 'Org (optional)' : labels[part]}
          {...(part === 'team' && reach === 'agent' ? { hint: 'Empty where the agent has no team.' } : {})}
        >
          <TextInput
            value={form[part]}
            list={`${id}-${part}`}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => onChange({ ...form, [part]: event.target.value })}
          />
          <datalist id={`${id}-${part}`}>
            {choicesOf(rows.values(), filter, `${part}_id`)
              .slice(0, 200)
              .map((choice) => (
                <option key={choice} value={choice}>
                  {choice}
                </option>
              ))}
          </datalist>
        </Field>
      ))}
    </div>
  );
}
