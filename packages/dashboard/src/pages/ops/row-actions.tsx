import { isOver } from '@reeve/contract/names';
import { IconButton } from '../../ui/button.tsx';
import type { ControlAction } from './op.ts';
import type { Row } from './row-model.ts';
import { canAsk } from './row-model.ts';

export type Act = (action: ControlAction, rows: readonly Row[]) => void;

/** What a person who may control operations can do in the list. */
export interface RowControls {
  readonly selected: ReadonlySet<string>;
  readonly onToggle: (row: Row, isRange: boolean) => void;
  readonly onToggleAll: () => void;
  readonly onAct: Act;
  /** The pointer has come to the controls of a row, or has left them. */
  readonly onPoint: (isPointing: boolean) => void;
}

interface RowActionsProps {
  readonly row: Row;
  readonly onAct: Act;
  /** Of many rows only the one at hand is a stop of the Tab key. */
  readonly isAtHand: boolean;
}

/** Pause or resume, and terminate: in the same places whatever the state, and none where there is nothing to control. */
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
