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
import { titleOf } from './approval-queue.ts';

const columns: readonly Column<Approval>[] = [
  { id: 'what', header: 'What', cell: (approval) => titleOf(approval) },
  { id: 'state', header: 'Verdict', cell: ({ state }) => <StateBadge state={state} /> },
  { id: 'agent', header: 'Agent', isWideOnly: true, cell: ({ agent }) => <AgentName agent={agent} /> },
  {
    id: 'by',
    header: 'By',
    isWideOnly: true,
    cell: ({ verdicts }) =>
      verdicts
        .map(
          ({ actor, self_approved: isOwn }) =>
            `${actor.label === '' ? actor.id : actor.label}${isOwn ? ' (own agent)' : ''}`,
        )
        .join(', '),
  },
  { id: 'at', header: 'When', cell: ({ decided_at: at }) => <Time at={at} /> },
];

interface DecidedPanelProps {
  readonly orgId: string | undefined;
  readonly chosenId: string | undefined;
  readonly onChoose: (id: string | undefined) => void;
}

/** Decided approvals, newest first. */
export function DecidedPanel({ orgId, chosenId, onChoose }: DecidedPanelProps) {
  const filter = orgId === undefined ? {} : { org_id: orgId };
  const decided = useInfiniteQuery({
    queryKey: ['decided-approvals', filter],
    queryFn: ({ pageParam: cursor, signal }) => {
      const query = { ...filter, state: 'all' as const, per_page: 100, ...(cursor === null ? {} : { cursor }) };
      return callRoute('listApprovals', { query }, { signal });
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  });
  return (
    <Loaded query={decided} what="The approvals">
      {({ pages }) => {
        const rows = pages.flatMap(({ items }) => items).filter(({ state }) => state !== 'open');
        const chosen = rows.find(({ id }) => id === chosenId);
        return (
          <Card isFlush>
            {rows.length === 0 ? (
              <EmptyState icon="approvals" title="Nothing has been decided yet" />
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
              <Drawer isOpen onClose={() => onChoose(undefined)} title={titleOf(chosen)}>
                <ApprovalDetail approval={chosen} />
              </Drawer>
            )}
          </Card>
        );
      }}
    </Loaded>
  );
}
