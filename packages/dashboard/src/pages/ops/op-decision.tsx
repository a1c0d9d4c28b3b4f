import { ApiError } from '../../api/api-error.ts';
import type { Answer } from '../../api/send.ts';
import { useRoute } from '../../api/use-route.ts';
import { Badge, StateBadge } from '../../ui/badge.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { RuleLink } from '../../ui/rule-link.tsx';

type Explained = Answer<'explainDecision'>;
type Rule = Explained['rules'][number];

/** Why the operation was decided this way, with every considered rule. */
export function OpDecision({ opKey }: { readonly opKey: string }) {
  const query = useRoute('explainDecision', { params: { id: opKey } });
  if (query.error instanceof ApiError && query.error.status === 404) {
    return <p className="text-muted">There is no decision to explain: no check of it is on record.</p>;
  }
  return (
    <Loaded query={query} what="The explanation" lines={3}>
      {(explained) => <Explanation explained={explained} />}
    </Loaded>
  );
}

function Explanation({ explained }: { readonly explained: Explained }) {
  const { decision, reason, policy_rule, policy_version, rules, notes } = explained;
  const matched = rules.filter((rule) => rule.matched);
  const others = rules.filter((rule) => !rule.matched);
  return (
    <div className="space-y-2">
      <p className="flex flex-wrap items-center gap-2">
        <StateBadge state={decision} />
        <RuleLink rule={policy_rule} />
        <span className="text-sm text-muted">policies {policy_version}</span>
      </p>
      {reason === '' ? null : <p>{reason}</p>}
      {notes.map((note) => (
        <p key={note} className="text-sm text-muted">
          {note}
        </p>
      ))}
      <Rules rules={matched} />
      {others.length === 0 ? null : (
        <details>
          <summary className="min-h-6 text-sm text-muted">
            {others.length === 1 ? '1 rule that did not match' : `${others.length} rules that did not match`}
          </summary>
          <Rules rules={others} />
        </details>
      )}
    </div>
  );
}

const tones = { allow: 'ok', deny: 'danger', require_approval: 'warn' } as const satisfies Record<
  Rule['effect'],
  string
>;
const effects = { allow: 'allow', deny: 'deny', require_approval: 'ask a person' } as const;

function Rules({ rules }: { readonly rules: readonly Rule[] }) {
  return (
    <ul className="mt-1 space-y-1.5">
      {rules.map((rule) => (
        <li key={`${rule.document}/${rule.rule}`} className="rounded-md border px-2.5 py-1.5">
          <span className="flex flex-wrap items-center gap-2">
            <Badge tone={rule.matched ? tones[rule.effect] : 'neutral'}>{effects[rule.effect]}</Badge>
            <RuleLink rule={`${rule.document}/${rule.rule}`} />
            {rule.observed ? <Badge title="Its document is only observed: it decides nothing.">observed</Badge> : null}
          </span>
          <span className="block text-sm break-words text-muted">{rule.why}</span>
        </li>
      ))}
    </ul>
  );
}
