import { useQueryClient } from '@tanstack/react-query';
import { callRoute } from '../../api/call.ts';
import { useGrant } from '../../api/use-session.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { toast } from '../../ui/toast.ts';
import type { ScopeJson } from './control-scope.ts';
import { phraseOf, sayScope, suspendedBy } from './control-scope.ts';

interface HoldDialogProps {
  /** At least a whole team. */
  readonly scope: ScopeJson;
  /** What happens to what runs. */
  readonly action: 'pause' | 'terminate';
  readonly onClose: () => void;
  /** The id leads to the receipts of what ran. */
  readonly onDone?: (controlId: string) => void;
}

/** Asks before a scope is held until somebody lifts it. */
export function HoldDialog({ scope, action, onClose, onDone }: HoldDialogProps) {
  const client = useQueryClient();
  const { orgId = null, teamId = null } = useGrant() ?? {};
  const name = sayScope(scope, orgId);
  const hold = async (reason: string) => {
    const whom = suspendedBy(scope, { orgId, teamId });
    if (whom === undefined) return;
    const { operations } = await callRoute('suspendScope', { body: { ...whom, action, reason } });
    toast.ok(`${name.slice(0, 1).toUpperCase()}${name.slice(1)} is held until somebody lifts it.`);
    await client.invalidateQueries({ queryKey: ['listSuspensions'] });
    if (operations !== null) onDone?.(operations.control_id);
  };
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={`Suspend ${name}?`}
      confirmLabel={`Suspend ${name}`}
      look="danger"
      typed={phraseOf(scope)}
      reason="required"
      onConfirm={hold}
    >
      <p>
        What runs in it is {action === 'terminate' ? 'stopped' : 'paused'}, and every check of every agent in it is
        denied until somebody lifts the suspension. What waits for approval goes on waiting.
      </p>
    </ConfirmDialog>
  );
}
