import { agentPath } from '@reeve/contract/names';
import type { PersonJson } from '@reeve/contract/people';
import { Link } from '@tanstack/react-router';
import type { Answer } from '../../api/send.ts';
import { useRoute } from '../../api/use-route.ts';
import { userOfPayload } from '../../api/user-of-payload.ts';
import { Loaded } from '../../ui/loaded.tsx';
import { RuleLink } from '../../ui/rule-link.tsx';
import { Time } from '../../ui/time.tsx';
import { whatOf } from '../audit/entry-words.ts';
import { denialGroups } from './denial-groups.ts';

type Entry = Answer<'listLogs'>['items'][number];

const looked = 50;
const shown = 5;

interface PersonDenialsProps {
  readonly user: PersonJson['user'];
  readonly orgId: string | undefined;
}

/** What was denied last, and why. */
export function PersonDenials({ user, orgId }: PersonDenialsProps) {
  const narrowed = orgId === undefined ? {} : { org_id: orgId };
  const query = useRoute('listLogs', { query: { user: user.sub, decision: 'deny', per_page: looked, ...narrowed } });
  return (
    <Loaded query={query} what="What was denied" lines={3}>
      {({ items }) => {
        // The log finds by the subject alone. Another issuer may know somebody else by it.
        const own = items.filter(({ payload }) => userOfPayload(payload)?.issuer === user.issuer);
        const denied = denialGroups(own).slice(0, shown);
        if (denied.length === 0) return <p className="text-muted">Nothing, as far as the log reaches.</p>;
        return (
          <ul className="space-y-2.5">
            {denied.map(({ entry, times }) => (
              <Denial key={entry.seq} entry={entry} times={times} />
            ))}
          </ul>
        );
      }}
    </Loaded>
  );
}

const linkClasses = 'break-all text-accent underline underline-offset-2';

function Denial({ entry, times }: { readonly entry: Entry; readonly times: number }) {
  const { org_id: org, team_id, agent_id } = entry.lineage;
  const agent = agentPath({ org_id: org ?? '', team_id, agent_id });
  return (
    <li className="space-y-0.5">
      <div className="flex min-w-0 items-baseline justify-between gap-3">
        <Link to="/audit" search={{ seq: String(entry.seq) }} className={linkClasses}>
          {whatOf(entry)}
        </Link>
        <span className="shrink-0 text-sm text-muted">
          {times > 1 ? `${times} times, last ` : null}
          <Time at={entry.at} />
        </span>
      </div>
      <p className="break-words">{entry.reason}</p>
      <p className="text-sm text-muted">
        {entry.policy_rule === null ? null : <RuleLink rule={entry.policy_rule} />}
        {entry.op_id === null ? null : (
          <>
            {' · '}
            <Link to="/ops" search={{ op: `${agent}/${entry.op_id}` }} className={linkClasses}>
              Operation
            </Link>
          </>
        )}
      </p>
    </li>
  );
}
