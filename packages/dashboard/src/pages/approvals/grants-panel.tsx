import { actionName } from '../../api/action-name.ts';
import { useState } from 'react';
import { callRoute } from '../../api/call.ts';
import type { Answer } from '../../api/send.ts';
import { useAction, useRoute } from '../../api/use-route.ts';
import { useCan } from '../../api/use-session.ts';
import { AgentName } from '../../ui/agent-name.tsx';
import { StateBadge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import type { Column } from '../../ui/column.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Time } from '../../ui/time.tsx';

type Grant = Answer<'listGrants'>['items'][number];

/** Standing grants, and how to revoke them. */
export function GrantsPanel({ orgId }: { readonly orgId: string | undefined }) {
  const query = { state: 'all' as const, per_page: 500, ...(orgId === undefined ? {} : { org_id: orgId }) };
  const grants = useRoute('listGrants', { query });
  const canRevoke = useCan('write');
  const [asked, setAsked] = useState<Grant>();
  const revoke = useAction(
    ({ id, reason }: { readonly id: string; readonly reason: string }) =>
      callRoute('revokeGrant', { params: { id }, body: { reason } }),
    {
      success: () => 'Revoked: the next such action is asked about again.',
      invalidates: ['listGrants'],
      isFailureShown: true,
    },
  );
  return (
    <Loaded query={grants} what="The grants">
      {({ items }) => (
        <Card isFlush>
          {items.length === 0 ? (
            <EmptyState icon="approvals" title="No standing grants">
              When you approve, you may grant the same for the rest of a run, or until a time. Such grants are listed
              here.
            </EmptyState>
          ) : (
            <DataTable
              caption="Standing grants"
              columns={columnsOf(canRevoke ? setAsked : undefined)}
              rows={items}
              rowKey={({ id }) => id}
            />
          )}
          {asked === undefined ? null : (
            <ConfirmDialog
              isOpen
              onClose={() => setAsked(undefined)}
              title="Revoke the grant"
              confirmLabel="Revoke"
              look="danger"
              reason="optional"
              onConfirm={(reason) => revoke.mutateAsync({ id: asked.id, reason })}
            >
              <p>
                The next {actionName(asked.action_type)} of {asked.covers === '' ? 'this kind' : asked.covers} by{' '}
                {asked.agent.agent_id} waits for an approval again. What runs already goes on.
              </p>
            </ConfirmDialog>
          )}
        </Card>
      )}
    </Loaded>
  );
}

function columnsOf(onRevoke: ((grant: Grant) => void) | undefined): readonly Column<Grant>[] {
  return [
    {
      id: 'what',
      header: 'What',
      cell: ({ action_type: type, covers }) => (covers === '' ? actionName(type) : `${actionName(type)}: ${covers}`),
    },
    { id: 'agent', header: 'Agent', cell: ({ agent }) => <AgentName agent={agent} /> },
    { id: 'state', header: 'State', cell: ({ state }) => <StateBadge state={state} /> },
    {
      id: 'reach',
      header: 'Reaches',
      cell: ({ reach, run_id: run, expires_at: at }) =>
        reach === 'run' ? `run ${run ?? ''}` : <Time at={at} form="full" />,
    },
    {
      id: 'by',
      header: 'By',
      isWideOnly: true,
      cell: ({ granted_by: by }) => (by.label === '' ? by.id : by.label),
    },
    { id: 'uses', header: 'Used', align: 'right', isWideOnly: true, cell: ({ uses }) => uses },
    {
      id: 'revoke',
      header: <span className="sr-only">Revoke</span>,
      align: 'right',
      cell: (grant) =>
        onRevoke !== undefined && grant.state === 'active' ? (
          <Button size="small" onClick={() => onRevoke(grant)}>
            Revoke
          </Button>
        ) : null,
    },
  ];
}
