import type { ReactNode } from 'react';
import { classes } from './classes.ts';

interface FactsProps {
  /** `list` has names beside values. `grid` has names above them, a few per line, for short values. */
  readonly look?: 'list' | 'grid';
  readonly className?: string;
  /** `Fact` elements. */
  readonly children: ReactNode;
}

const looks = {
  list: 'grid grid-cols-[minmax(5.5rem,auto)_minmax(0,1fr)] gap-x-4 gap-y-2 sm:grid-cols-[minmax(7.5rem,auto)_minmax(0,1fr)] [&>div]:col-span-2 [&>div]:grid [&>div]:grid-cols-subgrid',
  grid: 'grid grid-cols-2 gap-x-6 gap-y-2 sm:grid-cols-3',
};

/** The facts of one thing, name by name. */
export function Facts({ look = 'list', className, children }: FactsProps) {
  return <dl className={classes(looks[look], className)}>{children}</dl>;
}

interface FactProps {
  readonly name: string;
  readonly className?: string;
  readonly children: ReactNode;
}

export function Fact({ name, className, children }: FactProps) {
  return (
    <div className={classes('min-w-0', className)}>
      <dt className="max-w-40 min-w-0 text-muted wrap-anywhere">{name}</dt>
      <dd className="min-w-0 wrap-anywhere">{children}</dd>
    </div>
  );
}
