import type { ReactNode } from 'react';
import { useId } from 'react';
import { classes } from './classes.ts';

interface CardProps {
  readonly title?: ReactNode;
  /** Links and buttons at the end of the title's line. */
  readonly actions?: ReactNode;
  /** Without padding, for a table that reaches the border. */
  readonly isFlush?: boolean;
  readonly className?: string;
  readonly children: ReactNode;
}

export function Card({ title, actions, isFlush = false, className, children }: CardProps) {
  const id = useId();
  return (
    <section
      {...(title === undefined ? {} : { 'aria-labelledby': id })}
      className={classes('min-w-0 rounded-lg border bg-surface', isFlush && 'overflow-clip', className)}
    >
      {title === undefined ? null : (
        <div className="flex min-h-11 flex-wrap items-center justify-between gap-2 border-b px-4 py-1.5">
          <h2 id={id} className="min-w-0 grow font-semibold wrap-anywhere">
            {title}
          </h2>
          {actions === undefined ? null : <div className="flex items-center gap-2 text-sm">{actions}</div>}
        </div>
      )}
      <div className={isFlush ? '' : 'p-4'}>{children}</div>
    </section>
  );
}
