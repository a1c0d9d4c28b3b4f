import type { PersonJson } from '@reeve/contract/people';
import { formatCount, plural } from '../../api/format.ts';
import { AgentPath } from '../../ui/agent-path.tsx';
import { classes } from '../../ui/classes.ts';
import type { Column } from '../../ui/column.ts';
import { Time } from '../../ui/time.tsx';
import { agentPath } from '@reeve/contract/names';

export const peopleColumns: readonly Column<PersonJson>[] = [
  {
    id: 'who',
    header: 'Person',
    width: 'minmax(10rem, 1.5fr)',
    cell: ({ user }) => (
      <span className="font-medium" title={nameOf(user)}>
        {nameOf(user)}
      </span>
    ),
  },
  {
    id: 'issuer',
    header: 'Issuer',
    width: 'minmax(8rem, 1fr)',
    cell: ({ user: { issuer } }) => (
      <span className="text-muted" title={issuer}>
        {issuer}
      </span>
    ),
  },
  { id: 'last', header: 'Last seen', width: '8rem', cell: ({ last_at: at }) => <Time at={at} /> },
  { id: 'allow', header: 'Allowed', align: 'right', width: '5.5rem', cell: ({ allow }) => formatCount(allow) },
  {
    id: 'deny',
    header: 'Denied',
    align: 'right',
    width: '5.5rem',
    cell: ({ deny }) => <span className={classes(deny > 0 && 'font-medium text-danger')}>{formatCount(deny)}</span>,
  },
  { id: 'pending', header: 'Held', align: 'right', width: '4.5rem', cell: ({ pending }) => formatCount(pending) },
  { id: 'agents', header: 'Agents', width: 'minmax(12rem, 1.2fr)', cell: (person) => <Agents person={person} /> },
];

/** The one that acted last, and how many others there are. */
function Agents({ person: { agents, agent_count: count } }: { readonly person: PersonJson }) {
  const [last] = agents;
  if (last === undefined) return null;
  return (
    <span className="flex min-w-0 items-baseline gap-1.5">
      <span className="min-w-0">
        <AgentPath path={agentPath(last)} />
      </span>
      {count > 1 ? <span className="shrink-0 text-muted">{`and ${plural(count - 1, 'other')}`}</span> : null}
    </span>
  );
}

/** A person on a phone. */
export const peopleCard = {
  height: 64,
  cell: ({ user, last_at: at, allow, deny, pending }: PersonJson) => (
    <div className="min-w-0 space-y-1">
      <div className="flex min-w-0 items-center justify-between gap-2">
        <span className="min-w-0 truncate font-medium">{nameOf(user)}</span>
        <span className="shrink-0 text-xs text-muted">
          <Time at={at} />
        </span>
      </div>
      <div className="truncate text-muted">
        {`${formatCount(allow)} allowed, `}
        <span className={classes(deny > 0 && 'font-medium text-danger')}>{`${formatCount(deny)} denied`}</span>
        {`, ${formatCount(pending)} held`}
      </div>
    </div>
  ),
};

/** People go by their email. Services have none. */
export function nameOf({ email, sub }: PersonJson['user']): string {
  return email === '' ? sub : email;
}
