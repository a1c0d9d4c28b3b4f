import type { Column, ColumnOrder, Direction } from './column.ts';
import { Select } from './field.tsx';

/** The order that a table has by itself, such as a tree. */
export interface OwnOrder {
  readonly label: string;
  readonly onPick: () => void;
}

type Ordered = Pick<Column<unknown>, 'id' | 'header' | 'align'> & { readonly order?: ColumnOrder };

interface OrderSelectProps {
  readonly columns: readonly Ordered[];
  readonly own?: OwnOrder | undefined;
}

const words: Readonly<Record<Direction, string>> = { ascending: 'ascending', descending: 'descending' };

/** The orders of all columns in one choice, for where their headers are not shown. */
export function OrderSelect({ columns, own }: OrderSelectProps) {
  const orders = columns.flatMap(({ id, header, align, order }) =>
    order === undefined || typeof header !== 'string' ? [] : [{ id, header, isAmount: align === 'right', ...order }],
  );
  if (orders.length === 0) return null;
  const now = orders.find((each) => each.now !== undefined);
  const choices = orders.flatMap(({ id, header, isAmount }) =>
    directions(isAmount).map((direction) => ({
      value: `${id} ${direction}`,
      label: `${header}, ${words[direction]}`,
    })),
  );
  return (
    // The control is inside its label.
    // oxlint-disable-next-line jsx-a11y/label-has-associated-control
    <label className="flex items-center gap-2 border-b px-3 py-2 text-sm">
      Order
      <Select
        className="flex-1"
        value={now === undefined ? '' : `${now.id} ${now.now ?? ''}`}
        choices={
          now === undefined || own !== undefined
            ? [{ value: '', label: own?.label ?? 'As given' }, ...choices]
            : choices
        }
        onChange={(value) => {
          const [id, direction] = value.split(' ');
          if (id === '') own?.onPick();
          else orders.find((each) => each.id === id)?.onOrder(direction as Direction);
        }}
      />
    </label>
  );
}

/** Of amounts the greatest is looked for, of names the first. */
function directions(isAmount: boolean): readonly Direction[] {
  return isAmount ? ['descending', 'ascending'] : ['ascending', 'descending'];
}
