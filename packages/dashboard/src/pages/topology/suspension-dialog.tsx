import { agentPath, pathPart } from '@reeve/contract/names';
import { callRoute } from '../../api/call.ts';
import { plural } from '../../api/format.ts';
import { useAction } from '../../api/use-route.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import type { TopologyAgent } from './topology-model.ts';

interface SuspensionDialogProps {
  /** Undefined while the dialog is closed. */
  readonly agent: TopologyAgent | undefined;
  readonly onClose: () => void;
}

/** Asks before an agent is suspended, or resumed if it is suspended already. */
export function SuspensionDialog({ agent, onClose }: SuspensionDialogProps) {
  return agent === undefined ? null : <OpenDialog agent={agent} onClose={onClose} />;
}

interface OpenDialogProps {
  readonly agent: TopologyAgent;
  readonly onClose: () => void;
}

function OpenDialog({ agent, onClose }: OpenDialogProps) {
  const isResume = agent.suspended_by === 'agent';
  const path = agentPath(agent);
  const action = useAction(
    (reason: string) =>
      callRoute(isResume ? 'resumeAgent' : 'suspendAgent', {
        params: { org: pathPart(agent.org_id), team: pathPart(agent.team_id), agent: agent.agent_id },
        body: { reason },
      }),
    {
      success: () => (isResume ? `${path} may act again` : `${path} is suspended`),
      invalidates: ['getAgent', 'topologyOverview'],
      isFailureShown: true,
    },
  );
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={`${isResume ? 'Resume' : 'Suspend'} ${agent.agent_id}?`}
      confirmLabel={isResume ? 'Resume agent' : 'Suspend agent'}
      look={isResume ? 'primary' : 'danger'}
      reason={isResume ? 'optional' : 'required'}
      onConfirm={(reason) => action.mutateAsync(reason)}
    >
      <p className="break-all">
        <code>{path}</code>
      </p>
      {isResume ? (
        <p>Its checks are decided by the policies again, and the operations that the suspension paused go on.</p>
      ) : (
        <p>
          Every check it makes is denied until it is resumed, and{' '}
          {agent.in_flight === 0
            ? 'operations that run are paused'
            : `its ${plural(agent.in_flight, 'operation')} in flight are paused`}
          . It stays suspended when it registers again.
        </p>
      )}
    </ConfirmDialog>
  );
}
