import { useInfiniteQuery } from '@tanstack/react-query';
import { callRoute } from '../../api/call.ts';
import { AgentName } from '../../ui/agent-name.tsx';
import { StateBadge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import type { Column } from '../../ui/column.ts';
import { DataTable } from '../../ui/data-table.tsx';
import { Drawer } from '../../ui/dialog.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Time } from '../../ui/time.tsx';
import { ApprovalDetail } from './approval-detail.tsx';
import type { Approval } from './approval-queue.ts';
import type { ApprovalsSearch } from './approvals-search.ts';
import { DecidedFilters } from './decided-filters.tsx';

const columns: readonly Column<Approval>[] = [
  { id: 'what', header: 'What', cell: ({ title }) => <span className="wrap-anywhere">{title}</span> },
  {
    id: 'state',
    header: 'Verdict',
    cell: (approval) => (
      <>
        <StateBadge state={approval.state} />
        <span className="block wrap-anywhere text-muted md:hidden">{decidedBy(approval)}</span>
      </>
    ),
  },
  { id: 'agent', header: 'Agent', isWideOnly: true, cell: ({ agent }) => <AgentName agent={agent} /> },
  { id: 'by', header: 'By', isWideOnly: true, cell: decidedBy },
  { id: 'at', header: 'When', cell: ({ decided_at: at }) => <Time at={at} /> },
];

function decidedBy({ verdicts }: Approval): string {
  return verdicts
    .map(
      ({ actor, self_approved: isOwn }) =>
        `${actor.label === '' ? actor.id : actor.label}${isOwn ? ' (own agent)' : ''}`,
    )
    .join(', ');
}

interface DecidedPanelProps {
  readonly search: ApprovalsSearch;
  readonly onChange: (changed: Partial<ApprovalsSearch>) => void;
}

/** Decided approvals, newest first. */
export function DecidedPanel({ search, onChange }: DecidedPanelProps) {
  const chosenId = search.id;
  const onChoose = (id: string | undefined) => onChange({ id });
  const filter = filterOf(search);
  const isNarrowed = Object.keys(filter).length > 1;
  const decided = useInfiniteQuery({
    queryKey: ['decided-approvals', filter],
    queryFn: ({ pageParam: cursor, signal }) => {
      const query = { ...filter, per_page: 100, ...(cursor === null ? {} : { cursor }) };
      return callRoute('listApprovals', { query }, { signal });
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  });
  const list = (
    <Loaded query={decided} what="The approvals">
      {({ pages }) => {
        const rows = pages.flatMap(({ items }) => items).filter(({ state }) => state !== 'open');
        const chosen = rows.find(({ id }) => id === chosenId);
        return (
          <Card isFlush>
            {rows.length === 0 ? (
              <EmptyState icon="approvals" title={isNarrowed ? 'No decision matches' : 'Nothing has been decided yet'}>
                {isNarrowed
                  ? 'Other days or other people may.'
                  : 'Whatever somebody approves or rejects is kept here, with who it was, when and why.'}
              </EmptyState>
            ) : (
              <DataTable
                caption="Decided approvals"
                columns={columns}
                rows={rows}
                rowKey={({ id }) => id}
                activeKey={chosenId}
                onOpen={({ id }) => onChoose(id)}
              />
            )}
            {decided.hasNextPage ? (
              <div className="border-t px-4 py-2">
                <Button
                  size="small"
                  isPending={decided.isFetchingNextPage}
                  onClick={() => void decided.fetchNextPage()}
                >
                  Older
                </Button>
              </div>
            ) : null}
            {chosen === undefined ? null : (
              <Drawer isOpen onClose={() => onChoose(undefined)} title={chosen.title}>
                <ApprovalDetail approval={chosen} />
              </Drawer>
            )}
          </Card>
        );
      }}
    </Loaded>
  );
  return (
    <div className="space-y-3">
      <DecidedFilters search={search} onChange={onChange} />
      {list}
    </div>
  );
}

/** Without a filter, all that no longer waits is shown. The times and the author are those of a decision. */
function filterOf({ org_id: org, verdict, decided_by: by, from, to }: ApprovalsSearch) {
  const isOfDecision = [by, from, to].some((given) => given !== undefined);
  return {
    state: verdict ?? (isOfDecision ? ('decided' as const) : ('all' as const)),
    ...(org === undefined ? {} : { org_id: org }),
    ...(by === undefined ? {} : { decided_by: by }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  };
}
