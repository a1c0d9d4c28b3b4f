import { formatDuration } from '../../api/format.ts';
import { classes } from '../../ui/classes.ts';
import { Icon } from '../../ui/icon.tsx';
import { useNow } from '../../ui/now.ts';
import type { Tone } from '../../ui/tone.ts';
import { inkTone } from '../../ui/tone.ts';
import type { Control } from './op.ts';
import { elapsedMs, explainReceipt, formatElapsed, isUnderWay } from './receipt.ts';

const short: Readonly<Record<Control['status'], readonly [words: string, tone: Tone]>> = {
  requested: ['not reached', 'neutral'],
  delivered: ['delivered', 'neutral'],
  acked: ['heard', 'info'],
  effective: ['effective', 'ok'],
  failed: ['agent failed', 'danger'],
  unconfirmed: ['no answer', 'warn'],
};

interface ReceiptChipProps {
  readonly control: Control;
}

/** A control's stopwatch in a word and a time. A confirmation by the agent gets the tick, one by the kernel a seal. */
export function ReceiptChip({ control }: ReceiptChipProps) {
  const [words, tone] = short[control.status];
  return (
    <span
      title={explainReceipt(control)}
      className={classes('inline-flex min-w-0 items-center gap-1 text-xs whitespace-nowrap', inkTone[tone])}
    >
      {control.status === 'effective' ? <Confirmed control={control} /> : null}
      {tone === 'danger' || tone === 'warn' ? <Icon name="alert" /> : null}
      <span className={control.status === 'effective' ? 'sr-only' : 'truncate'}>{words}</span>
      {control.status === 'effective' ? 'in' : null}
      <Stopwatch control={control} />
    </span>
  );
}

/** The agent's word and the kernel's do not look alike. */
export function Confirmed({ control: { evidence } }: ReceiptChipProps) {
  if (evidence !== 'kernel') return <Icon name="check" className="text-ok" />;
  return (
    <span title="Confirmed by the kernel" className="inline-flex items-center gap-1 text-ok">
      <Icon name="seal" />
      <span className="sr-only">by the kernel</span>
    </span>
  );
}

/** From requested to effective. It runs only while there is something to wait for. */
export function Stopwatch({ control }: ReceiptChipProps) {
  if (control.status === 'effective') return <span>{formatElapsed(elapsedMs(control, 0))}</span>;
  return isUnderWay(control) ? <Running control={control} /> : null;
}

function Running({ control }: ReceiptChipProps) {
  const now = useNow(100);
  return <span>{formatDuration(elapsedMs(control, now))}</span>;
}
