import type { Colour } from './colour.ts';
import { paint } from './colour.ts';
import { shownValue } from './record.ts';
import { fitText, textWidth } from './text-width.ts';

export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => string | number | null | undefined;
  /** Aligns numbers to the right. */
  readonly isRight?: true;
  /** May be shortened if the terminal is too narrow. */
  readonly isFlexible?: true;
  readonly colour?: (row: Row) => Colour | undefined;
}

export interface TableStyle {
  /** The columns of the terminal. Undefined: unlimited, so that programs find everything. */
  readonly width: number | undefined;
  readonly hasColours: boolean;
}

const gap = 2;
const narrowest = 8;

/** Rows under titles. Each column is as wide as its widest cell. */
export function renderTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[], style: TableStyle): string {
  const cells = rows.map((row) => columns.map((column) => cellOf(column, row)));
  const natural = columns.map((column, at) =>
    Math.max(textWidth(column.title), ...cells.map((line) => textWidth(line[at] ?? ''))),
  );
  const widths = style.width === undefined ? natural : fitted(columns, natural, style.width);
  const line = (texts: readonly string[], colourOf: (at: number) => Colour | undefined) =>
    texts
      .map((text, at) => {
        const width = widths[at] ?? 0;
        const shown = fitText(text, width);
        const blank = ' '.repeat(width - textWidth(shown));
        const coloured = style.hasColours ? paint(shown, colourOf(at)) : shown;
        return columns[at]?.isRight === true ? `${blank}${coloured}` : `${coloured}${blank}`;
      })
      .join(' '.repeat(gap))
      .trimEnd();
  const head = line(
    columns.map((column) => column.title),
    () => 'bold',
  );
  const body = rows.map((row, number) => line(cells[number] ?? [], (at) => columns[at]?.colour?.(row)));
  return [head, ...body].join('\n');
}

/** A gateway of another version may leave a member out. The rest of the table still shows. */
function cellOf<Row>(column: Column<Row>, row: Row): string {
  try {
    return shownValue(column.value(row));
  } catch {
    return '-';
  }
}

/** Shrinks the widest flexible column until all fit. */
function fitted<Row>(columns: readonly Column<Row>[], natural: readonly number[], width: number): number[] {
  const widths = [...natural];
  const total = () => widths.reduce((sum, each) => sum + each, 0) + gap * (widths.length - 1);
  for (let excess = total() - width; excess > 0; excess = total() - width) {
    const widest = columns.reduce((best, column, at) => {
      const isBetter = column.isFlexible === true && (widths[at] ?? 0) > (widths[best] ?? 0);
      return isBetter || (best === -1 && column.isFlexible === true) ? at : best;
    }, -1);
    const present = widths[widest] ?? 0;
    if (present <= narrowest) return widths;
    const others = columns.map((column, at) => (column.isFlexible === true && at !== widest ? (widths[at] ?? 0) : 0));
    widths[widest] = Math.max(narrowest, present - excess, Math.min(present - 1, Math.max(...others)));
  }
  return widths;
}
