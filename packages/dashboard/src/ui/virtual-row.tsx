import type { ReactNode } from 'react';
import { memo } from 'react';
import { classes } from './classes.ts';
import type { Column } from './column.ts';

interface VirtualRowProps<Row> {
  readonly id: string;
  readonly row: Row;
  readonly index: number;
  /** The position in the list, in pixels. */
  readonly start: number;
  readonly height: number;
  readonly columns: readonly Column<Row>[];
  readonly template: string;
  /** Replaces the columns. */
  readonly cell: ((row: Row) => ReactNode) | undefined;
  /** Undefined if rows cannot be selected. */
  readonly isSelected: boolean | undefined;
  readonly isActive: boolean;
  readonly isAtHand: boolean;
  readonly isOpenable: boolean;
  readonly className: string | undefined;
  readonly onPick: (row: Row, isToOpen: boolean) => void;
}

/** A row of a `VirtualTable`. It is redrawn only if something about it has changed. */
export const VirtualRow = memo(DrawnRow) as typeof DrawnRow;

function DrawnRow<Row>(props: VirtualRowProps<Row>) {
  const { id, row, index, start, height, columns, template, cell, isSelected, isActive, isAtHand, onPick } = props;
  return (
    // The grid takes the keys for all of its rows.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus
    <div
      id={id}
      role="row"
      aria-rowindex={index + 2}
      {...(isSelected === undefined ? {} : { 'aria-selected': isSelected })}
      style={{
        height,
        transform: `translateY(${start}px)`,
        ...(cell === undefined ? { gridTemplateColumns: template } : {}),
      }}
      // A control inside the row handles its own click.
      onClick={(event) => onPick(row, (event.target as Element).closest('button, a, input, label') === null)}
      className={classes(
        'absolute inset-x-0 top-0 grid items-center border-b px-2',
        props.className,
        props.isOpenable && 'cursor-pointer hover:bg-hover',
        (isActive || isSelected === true) && 'bg-accent-soft',
        isAtHand && 'shadow-[inset_3px_0_0_var(--color-accent)]',
      )}
    >
      {cell === undefined ? (
        columns.map((column) => (
          <div key={column.id} role="gridcell" className={cellClasses(column)}>
            {column.cell(row)}
          </div>
        ))
      ) : (
        <div role="gridcell" className="min-w-0 px-1">
          {cell(row)}
        </div>
      )}
    </div>
  );
}

export function cellClasses<Row>({ align }: Column<Row>): string {
  return classes('min-w-0 truncate px-2', align === 'right' && 'text-right');
}
