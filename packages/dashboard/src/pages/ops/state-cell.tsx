import { opStateWords } from '../../ui/op-words.ts';
import { Badge, OpBadge } from '../../ui/badge.tsx';
import type { Control, ControlAction, Op } from './op.ts';
import { ReceiptChip } from './receipt-chip.tsx';
import type { Row } from './row-model.ts';

const wish: Readonly<Record<ControlAction, string>> = {
  pause: 'Pausing…',
  resume: 'Resuming…',
  terminate: 'Terminating…',
};

export const staleWords =
  'Its agent has been silent for a while: no control stream, heartbeat or call. Nobody knows whether the work goes on.';

interface StateCellProps {
  readonly row: Row;
}

/** The last reported state, or an unconfirmed request, and the progress of a control. */
export function StateCell({ row }: StateCellProps) {
  const { op, intent, isGone } = row;
  const control = controlOfState(op);
  return (
    <span className="flex min-w-0 items-center gap-1.5">
      <OpStateBadge row={row} />
      {op.stale && intent === undefined ? (
        <Badge tone="warn" title={staleWords}>
          Stale
        </Badge>
      ) : null}
      {control === undefined || intent !== undefined || isGone ? null : <ReceiptChip control={control} />}
    </span>
  );
}

export function OpStateBadge({ row: { op, intent, isGone } }: StateCellProps) {
  if (isGone) {
    return (
      <Badge title="The gateway does not know it any more: it ended while this page was not up to date.">Gone</Badge>
    );
  }
  if (intent === undefined) return <OpBadge op={op} />;
  return (
    <Badge
      title={`Asked for, and not confirmed by the gateway yet. It was ${opStateWords[op.state][0].toLowerCase()}.`}
    >
      <span
        aria-hidden="true"
        className="size-2.5 animate-spin rounded-full border-2 border-current border-r-transparent motion-reduce:animate-none"
      />
      {wish[intent.action]}
    </Badge>
  );
}

/** The control that led to the current state. An earlier one says nothing about it. */
function controlOfState({ state, control }: Op): Control | undefined {
  if (control === null) return undefined;
  const { action } = control;
  const isOfState =
    (action === 'pause' && state === 'paused') ||
    (action === 'resume' && state === 'running') ||
    (action === 'terminate' && state === 'terminated');
  return isOfState ? control : undefined;
}
