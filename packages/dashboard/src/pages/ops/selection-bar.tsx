import { plural } from '../../api/format.ts';
import { Button } from '../../ui/button.tsx';
import type { ControlAction } from './op.ts';
import type { Act } from './row-actions.tsx';
import type { Row } from './row-model.ts';
import { canAsk } from './row-model.ts';

const buttons = [
  ['pause', 'Pause', 'pause'],
  ['resume', 'Resume', 'play'],
  ['terminate', 'Terminate', 'stop'],
] as const satisfies (readonly [ControlAction, string, 'pause' | 'play' | 'stop'])[];

interface SelectionBarProps {
  readonly rows: readonly Row[];
  /** Selected rows that the filters hide. */
  readonly hidden: number;
  readonly onAct: Act;
  readonly onClear: () => void;
}

/** The actions for the selected rows. Each button says how many it affects. */
export function SelectionBar({ rows, hidden, onAct, onClear }: SelectionBarProps) {
  return (
    <div role="group" aria-label="Selection" className="flex min-w-0 flex-1 flex-wrap items-center gap-2">
      <span className="font-medium">
        {plural(rows.length, 'operation')} selected
        {hidden === 0 ? null : <span className="font-normal text-muted"> ({hidden} not shown by the filters)</span>}
      </span>
      {buttons.map(([action, label, icon]) => {
        const reached = rows.filter((row) => canAsk(row, action));
        return (
          <Button
            key={action}
            size="small"
            icon={icon}
            look={action === 'terminate' ? 'danger' : 'plain'}
            disabled={reached.length === 0}
            onClick={() => onAct(action, reached)}
          >
            {label} {reached.length}
          </Button>
        );
      })}
      <Button size="small" look="quiet" icon="close" onClick={onClear}>
        Clear
      </Button>
    </div>
  );
}
