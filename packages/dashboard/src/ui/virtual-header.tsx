import type { Column } from './column.ts';
import { SortButton } from './sort-button.tsx';
import { cellClasses } from './virtual-row.tsx';

interface VirtualHeaderProps<Row> {
  readonly columns: readonly Column<Row>[];
  readonly template: string;
}

/** The headers of a `VirtualTable`. */
export function VirtualHeader<Row>({ columns, template }: VirtualHeaderProps<Row>) {
  return (
    <div
      role="row"
      aria-rowindex={1}
      style={{ gridTemplateColumns: template }}
      className="sticky top-0 z-10 grid h-9 items-center border-b bg-surface px-2 font-medium text-muted"
    >
      {columns.map((column) => (
        <div
          key={column.id}
          role="columnheader"
          {...(column.order === undefined ? {} : { 'aria-sort': column.order.now ?? 'none' })}
          className={cellClasses(column)}
        >
          <HeaderCell column={column} />
        </div>
      ))}
    </div>
  );
}

function HeaderCell<Row>({ column: { header, align, order } }: { readonly column: Column<Row> }) {
  if (order === undefined) return header;
  return (
    <SortButton now={order.now} align={align} onSort={() => order.onOrder()}>
      {header}
    </SortButton>
  );
}
