import type { ReactNode } from 'react';
import { classes } from './classes.ts';
import type { Column, Direction } from './column.ts';
import { Icon } from './icon.tsx';

interface SortButtonProps {
  readonly now: Direction | undefined;
  readonly align?: Column<unknown>['align'] | undefined;
  readonly onSort: () => void;
  readonly children: ReactNode;
}

/** The header of a sortable column. */
export function SortButton({ now, align = 'left', onSort, children }: SortButtonProps) {
  return (
    <button
      type="button"
      onClick={onSort}
      className={classes(
        'inline-flex min-h-6 items-center gap-1 font-medium -outline-offset-2 hover:text-text',
        align === 'right' && 'flex-row-reverse',
      )}
    >
      {children}
      <Icon name={now === 'descending' ? 'down' : 'up'} className={now === undefined ? 'opacity-0' : ''} />
    </button>
  );
}
