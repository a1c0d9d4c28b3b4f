import { StateBadge } from '../../ui/badge.tsx';
import type { Column } from '../../ui/column.ts';
import { Time } from '../../ui/time.tsx';
import { agentOf } from './entry-drawer.tsx';
import type { AuditEntry } from './use-audit-entries.ts';

/** Times of other days include the date, and need the room. */
const timeWidth = (hasOtherDays: boolean) => (hasOtherDays ? '10rem' : '5.5rem');

export const auditColumns = (hasOtherDays: boolean): readonly Column<AuditEntry>[] => [
  {
    id: 'seq',
    header: 'Entry',
    align: 'right',
    width: '4.25rem',
    isWideOnly: true,
    cell: ({ seq }) => <span className="text-muted">{seq}</span>,
  },
  { id: 'at', header: 'Time', width: timeWidth(hasOtherDays), cell: ({ at }) => <Time at={at} form="clock" /> },
  {
    id: 'event',
    header: 'Event',
    width: 'minmax(7rem, 11rem)',
    cell: ({ event_type: type }) => (
      <span className="font-medium" title={type}>
        {type}
      </span>
    ),
  },
  {
    id: 'decision',
    header: 'Decision',
    width: '5.75rem',
    cell: ({ decision }) => (decision === null ? null : <StateBadge state={decision} />),
  },
  {
    id: 'agent',
    header: 'Agent',
    width: 'minmax(8rem, 13.25rem)',
    isWideOnly: true,
    cell: (entry) => <AgentPath path={agentOf(entry)} />,
  },
  {
    id: 'actor',
    header: 'Actor',
    width: '5rem',
    isWideOnly: true,
    cell: ({ actor }) => <span title={`${actor.kind} ${actor.id}`}>{actorName(actor)}</span>,
  },
  {
    id: 'reason',
    header: 'Reason',
    width: 'minmax(12rem, 1fr)',
    isWideOnly: true,
    cell: ({ reason }) => (
      <span className="text-muted" title={reason ?? ''}>
        {reason}
      </span>
    ),
  },
];

/** The agent stays visible. Its org and team may be cut. */
function AgentPath({ path }: { readonly path: string | undefined }) {
  if (path === undefined) return null;
  const at = path.lastIndexOf('/');
  return (
    // Cuts the text at its start.
    <span dir="rtl" title={path} className="block truncate text-left">
      <bdi dir="ltr">
        <span className="text-muted">{path.slice(0, at + 1)}</span>
        {path.slice(at + 1)}
      </bdi>
    </span>
  );
}

function actorName({ kind, id, label }: AuditEntry['actor']) {
  if (kind === 'agent') return <span className="text-muted">itself</span>;
  return label === '' ? id : label;
}
