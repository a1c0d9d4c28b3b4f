import type { Colour } from './colour.ts';
import { paint } from './colour.ts';
import { fromNow } from './duration.ts';
import { nothing, shownValue } from './record.ts';
import { fitText, textWidth } from './text-width.ts';

export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => string | number | null | undefined;
  /** Aligns numbers to the right. */
  readonly isRight?: true;
  /** May be shortened if the terminal is too narrow. What somebody would copy, such as an id, may not. */
  readonly isFlexible?: true;
  /** A time. On a terminal it is told by its distance from now. */
  readonly isTime?: true;
  /** Where a terminal is too narrow, minor columns are left out first, then others, then major ones. */
  readonly importance?: Importance;
  readonly colour?: (row: Row) => Colour | undefined;
}

export interface TableStyle {
  /** The columns of the terminal. Undefined: unlimited, so that programs find everything. */
  readonly width: number | undefined;
  readonly hasColours: boolean;
}

/** In the order in which columns are left out. */
const leftOut = ['minor', 'usual', 'major'] as const;
type Importance = (typeof leftOut)[number];

const gap = 2;
const narrowest = 10;

/** Rows under titles. Each column is as wide as its widest cell. */
export function renderTable<Row>(all: readonly Column<Row>[], rows: readonly Row[], style: TableStyle): string {
  const isFitted = style.width !== undefined;
  const made = all.map((column) => measured(column, rows, isFitted));
  const shown = isFitted ? chosen(made, style.width) : made;
  const columns = shown.map(({ column }) => column);
  const cells = rows.map((_, number) => shown.map((each) => each.cells[number] ?? ''));
  const natural = shown.map(({ width }) => width);
  const widths = isFitted ? fitted(columns, natural, style.width) : natural;
  const line = (texts: readonly string[], colourOf: (at: number) => Colour | undefined) =>
    texts
      .map((text, at) => {
        const width = widths[at] ?? 0;
        const fit = fitText(text, width);
        const blank = ' '.repeat(width - textWidth(fit));
        const coloured = style.hasColours ? paint(fit, colourOf(at)) : fit;
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

interface Measured<Row> {
  readonly column: Column<Row>;
  readonly cells: readonly string[];
  readonly width: number;
}

function measured<Row>(column: Column<Row>, rows: readonly Row[], isFitted: boolean): Measured<Row> {
  const cells = rows.map((row) => cellOf(column, row, isFitted));
  return { column, cells, width: Math.max(textWidth(column.title), ...cells.map((cell) => textWidth(cell))) };
}

/** The columns that fit. Those without anything in them go first, then the least important. The first one stays. */
function chosen<Row>(made: readonly Measured<Row>[], width: number): readonly Measured<Row>[] {
  const least = ({ column, width: natural }: Measured<Row>) =>
    column.isFlexible === true ? Math.min(natural, narrowest) : natural;
  const isTooWide = (kept: readonly Measured<Row>[]) =>
    kept.reduce((sum, each) => sum + least(each) + gap, -gap) > width;
  if (!isTooWide(made)) return made;
  const [first, ...others] = made;
  let kept = [first, ...others.filter(({ cells }) => cells.some((cell) => cell !== nothing))].filter(
    (each) => each !== undefined,
  );
  for (const importance of leftOut) {
    for (let at = kept.length - 1; at > 0 && isTooWide(kept); at--) {
      if ((kept[at]?.column.importance ?? 'usual') === importance) kept = kept.toSpliced(at, 1);
    }
  }
  return kept;
}

/** A gateway of another version may leave a member out. The rest of the table still shows. */
function cellOf<Row>(column: Column<Row>, row: Row, isFitted: boolean): string {
  try {
    const value = column.value(row);
    if (isFitted && column.isTime === true && typeof value === 'string') return fromNow(value);
    return shownValue(value);
  } catch {
    return nothing;
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
