import { Button } from '../../ui/button.tsx';
import { Copyable } from '../../ui/copy-button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';

interface NoRunsProps {
  readonly isNarrowed: boolean;
  readonly onClear: () => void;
}

const lines = [
  ['Send the id of the run with each check:', "await agent.check({ tool: 'search' }, { runId: 'order-17' });"],
  [
    'Let a rule label the runs that read something, and another one look at the label:',
    `rules:
  - {name: web, effect: allow, tools: [browse], labels: [web]}
  - {name: no-mail, effect: deny, tools: [mail.send], when: '"web" in run.labels'}`,
  ],
] as const;

/** Shown in place of runs. */
export function NoRuns({ isNarrowed, onClear }: NoRunsProps) {
  if (isNarrowed) {
    return (
      <EmptyState
        icon="filter"
        title="No run fits these filters"
        actions={<Button onClick={onClear}>Clear filters</Button>}
      />
    );
  }
  return (
    <EmptyState icon="runs" title="No agent has run anything yet">
      <p>
        A run is everything that agents do under one run id, or all that an agent does which sends none. Labels say what
        a run has read or done. They only grow, so that a rule can deny later what was harmless before.
      </p>
      <ol className="mt-3 space-y-2 text-left">
        {lines.map(([words, code]) => (
          <li key={words}>
            {words}
            <div className="mt-1 max-w-full text-text">
              <Copyable text={code} label="Copy" />
            </div>
          </li>
        ))}
      </ol>
    </EmptyState>
  );
}
