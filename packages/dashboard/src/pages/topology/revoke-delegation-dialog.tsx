import { agentPath, pathPart } from '@reeve/contract/names';
import { callRoute } from '../../api/call.ts';
import { useAction } from '../../api/use-route.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import type { AgentIds } from './topology-model.ts';

interface RevokeDelegationDialogProps {
  readonly ids: AgentIds;
  readonly onClose: () => void;
}

/** Asks before a delegation ends. */
export function RevokeDelegationDialog({ ids, onClose }: RevokeDelegationDialogProps) {
  const path = agentPath(ids);
  const action = useAction(
    (reason: string) =>
      callRoute('revokeDelegation', {
        params: { org: pathPart(ids.org_id), team: pathPart(ids.team_id), agent: ids.agent_id },
        body: { reason },
      }),
    {
      success: () => `${path} acts for nobody any more`,
      invalidates: ['getAgent', 'topologyOverview'],
      isFailureShown: true,
    },
  );
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={`End the delegation of ${ids.agent_id}?`}
      confirmLabel="End delegation"
      look="danger"
      reason="optional"
      onConfirm={(reason) => action.mutateAsync(reason)}
    >
      <p className="break-all">
        <code>{path}</code>
      </p>
      <p>
        Its token stops at once, its operations in flight are terminated, and so is all that it has delegated itself.
      </p>
    </ConfirmDialog>
  );
}
