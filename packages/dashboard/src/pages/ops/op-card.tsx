import { isOver } from '@reeve/contract/names';
import { actionName } from '../../api/action-name.ts';
import { AgentName } from '../../ui/agent-name.tsx';
import { DoorMark } from '../../ui/door-mark.tsx';
import { Checkbox } from '../../ui/field.tsx';
import { Money } from '../../ui/money.tsx';
import { Age } from '../../ui/time.tsx';
import type { RowControls } from './row-actions.tsx';
import { RowActions } from './row-actions.tsx';
import type { Row } from './row-model.ts';
import { RowSummary } from './row-summary.tsx';
import { StateCell } from './state-cell.tsx';

interface OpCardProps {
  readonly row: Row;
  readonly control: RowControls | undefined;
  readonly isAtHand: boolean;
}

/** A row on a phone. */
export function OpCard({ row, control, isAtHand }: OpCardProps) {
  const { op } = row;
  return (
    <div className="flex min-w-0 gap-2 py-1.5">
      {control === undefined ? null : (
        <Checkbox
          label={`Select ${op.agent.agent_id}: ${op.resource}`}
          isLabelHidden
          checked={control.selected.has(row.key)}
          tabIndex={isAtHand ? 0 : -1}
          onChange={() => control.onToggle(row, false)}
        />
      )}
      <div className="min-w-0 flex-1 space-y-1">
        <div className="flex min-w-0 items-center justify-between gap-2">
          <span className="truncate font-medium">
            <AgentName agent={op.agent} />
          </span>
          <span className="shrink-0 text-muted">
            <Age since={op.registered_at} until={isOver(op.state) ? op.updated_at : null} />
          </span>
        </div>
        <div className="flex min-w-0 items-center justify-between gap-2">
          <span className="truncate">
            <DoorMark via={op.via} />
            {[actionName(op.action_type), op.resource].filter(Boolean).join(' · ')}
          </span>
          <span className="shrink-0">
            <Money micros={op.action_type === null ? null : op.cost_micros} />
          </span>
        </div>
        <div className="flex h-7 min-w-0 items-center justify-between gap-2">
          <StateCell row={row} />
          <span className="min-w-0 flex-1 truncate text-muted">
            <RowSummary row={row} />
          </span>
          {control === undefined ? null : <RowActions row={row} onAct={control.onAct} isAtHand={isAtHand} />}
        </div>
      </div>
    </div>
  );
}
