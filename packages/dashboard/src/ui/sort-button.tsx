import type { ReactNode } from 'react';
import { classes } from './classes.ts';
import type { Column } from './column.ts';
import { Icon } from './icon.tsx';

interface SortButtonProps {
  readonly sorted: NonNullable<Column<unknown>['sorted']>;
  readonly align?: Column<unknown>['align'] | undefined;
  readonly onSort: () => void;
  readonly children: ReactNode;
}

/** The header of a sortable column. */
export function SortButton({ sorted, align = 'left', onSort, children }: SortButtonProps) {
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
      <Icon name={sorted === 'descending' ? 'down' : 'up'} className={sorted === 'none' ? 'opacity-0' : ''} />
    </button>
  );
}
