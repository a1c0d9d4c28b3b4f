import { ApiError } from '../../api/api-error.ts';
import type { Answer } from '../../api/send.ts';
import { useRoute } from '../../api/use-route.ts';
import { StateBadge } from '../../ui/badge.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { RuleLink } from '../../ui/rule-link.tsx';
import { RuleList } from './rule-list.tsx';

type Explained = Answer<'explainDecision'>;

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
      <RuleList rules={rules} />
    </div>
  );
}
