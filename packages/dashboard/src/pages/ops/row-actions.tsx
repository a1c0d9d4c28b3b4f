import { isOver } from '@reeve/contract/names';
import { IconButton } from '../../ui/button.tsx';
import type { ControlAction } from './op.ts';
import type { Row } from './row-model.ts';
import { canAsk } from './row-model.ts';

export type Act = (action: ControlAction, rows: readonly Row[]) => void;

/** The actions in the list for a person who may control operations. */
export interface RowControls {
  readonly selected: ReadonlySet<string>;
  readonly onToggle: (row: Row, isRange: boolean) => void;
  readonly onToggleAll: () => void;
  readonly onAct: Act;
  /** The pointer entered or left the controls of a row. */
  readonly onPoint: (isPointing: boolean) => void;
}

interface RowActionsProps {
  readonly row: Row;
  readonly onAct: Act;
  /** Only the current row is a tab stop. */
  readonly isAtHand: boolean;
}

/** Pause or resume, and terminate. In the same places in every state, and absent if nothing can be controlled. */
export function RowActions({ row, onAct, isAtHand }: RowActionsProps) {
  const { op, isGone } = row;
  if (isOver(op.state) || isGone) return null;
  const what = `${op.agent.agent_id}: ${op.resource === '' ? op.op_id : op.resource}`;
  const tabIndex = isAtHand ? 0 : -1;
  const first = op.state === 'paused' ? 'resume' : 'pause';
  return (
    <span className="flex justify-end gap-0.5">
      <IconButton
        icon={first === 'resume' ? 'play' : 'pause'}
        size="small"
        label={`${first === 'resume' ? 'Resume' : 'Pause'} ${what}`}
        disabled={!canAsk(row, first)}
        tabIndex={tabIndex}
        onClick={() => onAct(first, [row])}
      />
      <IconButton
        icon="stop"
        size="small"
        label={`Terminate ${what}`}
        disabled={!canAsk(row, 'terminate')}
        tabIndex={tabIndex}
        className="hover:text-danger"
        onClick={() => onAct('terminate', [row])}
      />
    </span>
  );
}
