import { classes } from './classes.ts';

interface SkeletonProps {
  readonly lines?: number;
  /** What is being loaded, for screen readers. */
  readonly label?: string;
  readonly className?: string;
}

const widths = ['w-11/12', 'w-4/5', 'w-10/12', 'w-3/5', 'w-9/12'];

/** A placeholder for content that is loading. */
export function Skeleton({ lines = 4, label = 'Loading', className }: SkeletonProps) {
  return (
    <div role="status" className={classes('space-y-3 p-4', className)}>
      <span className="sr-only">{label}</span>
      {Array.from({ length: lines }, (_, index) => (
        <div
          key={index}
          aria-hidden="true"
          className={classes(
            'h-4 animate-pulse rounded-sm bg-hover motion-reduce:animate-none',
            widths[index % widths.length],
          )}
        />
      ))}
    </div>
  );
}
