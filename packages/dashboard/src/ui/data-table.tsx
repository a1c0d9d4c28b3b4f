import type { ReactNode } from 'react';
import { useState } from 'react';
import { classes } from './classes.ts';
import type { Column, ColumnOrder } from './column.ts';
import { OrderSelect } from './order-select.tsx';
import { SortButton } from './sort-button.tsx';
import { useIsWide } from './use-is-wide.ts';

interface DataTableProps<Row> {
  /** The title of the table, read out before it. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  /** Opens a row. Its first cell is then a button for keyboard and screen reader. */
  readonly onOpen?: (row: Row) => void;
  /** Marks the row whose details are open. */
  readonly activeKey?: string | undefined;
  /** Shown below, such as a button for the next page. */
  readonly footer?: ReactNode;
}

interface Sorting {
  readonly id: string;
  readonly isDescending: boolean;
}

/** A table of up to some hundred rows. */
export function DataTable<Row>({ caption, columns, rows, rowKey, onOpen, activeKey, footer }: DataTableProps<Row>) {
  const [sorting, setSorting] = useState<Sorting>();
  const isWide = useIsWide();
  const shown = sorted(rows, columns, sorting);
  const orders = columns.map((column) => ({ ...column, ...orderOf(column, sorting, setSorting) }));
  return (
    <>
      {/* Where all columns are shown, so are their headers. */}
      {isWide || !columns.some(({ isWideOnly, sortBy }) => isWideOnly === true && sortBy !== undefined) ? null : (
        <OrderSelect columns={orders} />
      )}
      <div className="relative overflow-x-auto">
        <table className="w-full border-collapse text-sm">
          <caption className="sr-only">{caption}</caption>
          <thead>
            <tr className="border-b text-left text-muted">
              {orders.map((column) => (
                <Header key={column.id} column={column} />
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => (
              <tr
                key={rowKey(row)}
                className={classes(
                  'border-b last:border-b-0',
                  onOpen !== undefined && 'relative hover:bg-hover',
                  activeKey === rowKey(row) && 'bg-accent-soft',
                )}
              >
                {columns.map((column, index) => (
                  <td key={column.id} className={cellClasses(column)}>
                    {index === 0 && onOpen !== undefined ? (
                      // The button covers the whole row. Controls in other cells lie above it.
                      <button
                        type="button"
                        onClick={() => onOpen(row)}
                        className="text-left font-medium after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent"
                      >
                        {column.cell(row)}
                      </button>
                    ) : (
                      column.cell(row)
                    )}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {footer}
    </>
  );
}

/** A click turns the order of a column round. */
function orderOf<Row>(
  { id, sortBy }: Column<Row>,
  sorting: Sorting | undefined,
  onSort: (sorting: Sorting) => void,
): { readonly order?: ColumnOrder } {
  if (sortBy === undefined) return {};
  const now = sorting?.id !== id ? undefined : sorting.isDescending ? 'descending' : 'ascending';
  const onOrder: ColumnOrder['onOrder'] = (picked = now === 'ascending' ? 'descending' : 'ascending') =>
    onSort({ id, isDescending: picked === 'descending' });
  return { order: { now, onOrder } };
}

function Header<Row>({ column }: { readonly column: Column<Row> }) {
  const { header, order } = column;
  return (
    <th
      scope="col"
      {...(order === undefined ? {} : { 'aria-sort': order.now ?? 'none' })}
      className={classes('font-medium whitespace-nowrap', cellClasses(column))}
    >
      {order === undefined ? (
        header
      ) : (
        <SortButton now={order.now} onSort={() => order.onOrder()}>
          {header}
        </SortButton>
      )}
    </th>
  );
}

function cellClasses<Row>({ align, isWideOnly }: Column<Row>): string {
  return classes(
    'h-9 px-3 py-1.5 first:pl-4 last:pr-4',
    align === 'right' && 'text-right',
    isWideOnly === true && 'max-md:hidden',
  );
}

function sorted<Row>(rows: readonly Row[], columns: readonly Column<Row>[], sorting: Sorting | undefined) {
  const by = columns.find(({ id }) => id === sorting?.id)?.sortBy;
  if (by === undefined) return rows;
  const sign = sorting?.isDescending === true ? -1 : 1;
  return rows.toSorted((a, b) => {
    const [left, right] = [by(a), by(b)];
    return sign * (left < right ? -1 : left > right ? 1 : 0);
  });
}
