import { actionName } from '../../api/action-name.ts';
import { plural } from '../../api/format.ts';
import { AgentName } from '../../ui/agent-name.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import type { ControlAction } from './op.ts';
import { nameOf } from './receipt.ts';
import type { Row } from './row-model.ts';

/** From this many on, the person must type the number. */
const many = 10;
const listed = 5;

const effects: Readonly<Record<ControlAction, string>> = {
  pause: 'The gateway holds further steps back at once; the agent is told to stand still.',
  resume: 'The agent is told that it may go on.',
  terminate: 'This cannot be undone. The agent is told to stop, and what is reserved for it is released.',
};

interface ActDialogProps {
  readonly action: ControlAction;
  readonly rows: readonly Row[];
  readonly onClose: () => void;
  readonly onConfirm: (reason: string) => void;
}

/** Asks before an operation is terminated, or before many are controlled at once. Takes the reason. */
export function ActDialog({ action, rows, onClose, onConfirm }: ActDialogProps) {
  const what = rows.length === 1 ? 'operation' : plural(rows.length, 'operation');
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={`${nameOf(action)} ${rows.length === 1 ? 'this operation' : what}?`}
      confirmLabel={`${nameOf(action)} ${what}`}
      look={action === 'terminate' ? 'danger' : 'primary'}
      reason="optional"
      {...(rows.length >= many ? { typed: String(rows.length) } : {})}
      onConfirm={(reason) => Promise.resolve(onConfirm(reason))}
    >
      <ul className="space-y-1">
        {rows.slice(0, listed).map(({ key, op }) => (
          <li key={key} className="min-w-0 truncate" title={op.op_id}>
            <AgentName agent={op.agent} />
            <span className="text-muted">{` · ${actionName(op.action_type) ?? 'operation'} · `}</span>
            {op.resource === '' ? op.op_id : op.resource}
          </li>
        ))}
        {rows.length <= listed ? null : <li className="text-muted">and {plural(rows.length - listed, 'other')}</li>}
      </ul>
      <p>{effects[action]}</p>
      <p className="text-muted">It shows as effective only when the agent has confirmed it.</p>
    </ConfirmDialog>
  );
}
