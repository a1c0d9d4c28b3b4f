import { StateBadge } from '../../ui/badge.tsx';
import type { Column } from '../../ui/column.ts';
import { Time } from '../../ui/time.tsx';
import { AgentPath } from '../../ui/agent-path.tsx';
import { subjectOf } from './entry-drawer.tsx';
import { whatOf, whoBeside } from './entry-words.ts';
import type { AuditEntry } from './use-audit-entries.ts';

export const auditColumns: readonly Column<AuditEntry>[] = [
  {
    id: 'seq',
    header: 'Entry',
    align: 'right',
    width: '4.25rem',
    cell: ({ seq }) => <span className="text-muted">{seq}</span>,
  },
  { id: 'at', header: 'Time', width: '10.5rem', cell: ({ at }) => <Time at={at} form="full" /> },
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
    id: 'what',
    header: 'What',
    width: 'minmax(8rem, 1fr)',
    cell: (entry) => <span title={whatOf(entry)}>{whatOf(entry)}</span>,
  },
  {
    id: 'who',
    header: 'Who',
    width: 'minmax(8rem, 14rem)',
    cell: (entry) => <Who entry={entry} />,
  },
  {
    id: 'reason',
    header: 'Reason',
    width: 'minmax(10rem, 1fr)',
    cell: ({ reason }) => (
      <span className="text-muted" title={reason ?? ''}>
        {reason}
      </span>
    ),
  },
];

/** The agent, and whoever acted on it or without it. */
function Who({ entry }: { readonly entry: AuditEntry }) {
  const other = whoBeside(entry);
  const path = subjectOf(entry);
  if (other === undefined || path === undefined)
    return other ?? (path === undefined ? null : <AgentPath path={path} />);
  return <span title={`${other}, about ${path}`}>{`${other}, about ${path.slice(path.lastIndexOf('/') + 1)}`}</span>;
}

/** An entry on a phone. */
export const auditCard = {
  height: 64,
  cell: (entry: AuditEntry) => (
    <div className="min-w-0 space-y-1">
      <div className="flex min-w-0 items-center justify-between gap-2">
        <span className="min-w-0 truncate font-medium">
          <Who entry={entry} />
        </span>
        <span className="shrink-0 text-xs text-muted">
          <Time at={entry.at} form="full" />
        </span>
      </div>
      <div className="flex min-w-0 items-center gap-2">
        {entry.decision === null ? <span>{entry.event_type}</span> : <StateBadge state={entry.decision} />}
        <span className="min-w-0 truncate text-muted">{whatOf(entry)}</span>
      </div>
    </div>
  ),
};
