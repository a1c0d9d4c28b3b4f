import { formatUsd } from '../../api/format.ts';
import { Badge } from '../../ui/badge.tsx';
import { classes } from '../../ui/classes.ts';
import type { Tone } from '../../ui/tone.ts';
import type { Budget, Level } from './budget-model.ts';
import { usageOf } from './budget-model.ts';

export const levelNames: Readonly<Record<Level, readonly [label: string, tone: Tone]>> = {
  uncapped: ['No cap', 'neutral'],
  fine: ['Below 80 %', 'neutral'],
  near: ['Past 80 %', 'warn'],
  close: ['Past 95 %', 'danger'],
  reached: ['Cap reached', 'danger'],
};

const fill: Readonly<Record<Level, string>> = {
  uncapped: 'bg-edge',
  fine: 'bg-accent',
  near: 'bg-warn',
  close: 'bg-danger',
  reached: 'bg-danger',
};

interface UsageBarProps {
  readonly budget: Budget;
  /** The owner of the bar, for screen readers. */
  readonly name: string;
}

/** Spend and reservations against the cap, with marks at the announced thresholds. */
export function UsageBar({ budget, name }: UsageBarProps) {
  const { level, percent, spentWidth, reservedWidth } = usageOf(budget);
  if (percent === undefined || budget.limit_usd === null) return <span className="text-sm text-muted">No cap</span>;
  const words = `${percent} percent of ${formatUsd(budget.limit_usd)}: ${formatUsd(budget.spent_usd)} spent, ${formatUsd(budget.reserved_usd)} reserved`;
  return (
    <div
      role="meter"
      aria-label={`Used of the cap of ${name}`}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.min(100, percent)}
      aria-valuetext={words}
      title={words}
      className="relative h-3 min-w-16 flex-1 overflow-hidden rounded-sm border border-edge/60 bg-sunken"
    >
      <div className={classes('absolute inset-y-0 left-0', fill[level])} style={{ width: `${spentWidth}%` }} />
      <div
        className={classes('usage-reserved absolute inset-y-0', fill[level])}
        style={{ left: `${spentWidth}%`, width: `${reservedWidth}%` }}
      />
      <div className="absolute inset-y-0 left-[80%] w-px bg-text/60" />
      <div className="absolute inset-y-0 left-[95%] w-px bg-text/60" />
    </div>
  );
}

/** The same in a word, if it is worth one. */
export function LevelBadge({ budget }: { readonly budget: Budget }) {
  const { level } = usageOf(budget);
  const [label, tone] = levelNames[level];
  return tone === 'neutral' ? null : <Badge tone={tone}>{label}</Badge>;
}

export function Percent({ budget }: { readonly budget: Budget }) {
  const { percent } = usageOf(budget);
  return percent === undefined ? null : <span className="text-right text-sm">{percent} %</span>;
}
