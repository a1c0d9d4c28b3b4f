import type { ReactNode } from 'react';

export type Direction = 'ascending' | 'descending';

/** How the rows of a table can be ordered by a column. */
export interface ColumnOrder {
  /** Undefined if they are ordered by another one. */
  readonly now: Direction | undefined;
  /** Takes the picked direction, or after a click on the header the next one. */
  readonly onOrder: (picked?: Direction) => void;
}

export interface Column<Row> {
  readonly id: string;
  readonly header: ReactNode;
  readonly cell: (row: Row) => ReactNode;
  readonly align?: 'left' | 'right';
  /** Hidden below 768 px, so that the rest fits. */
  readonly isWideOnly?: boolean;
  /** The sort value for a click on the header. Without it the column cannot be sorted. */
  readonly sortBy?: (row: Row) => string | number;
  /** For a `VirtualTable`: a CSS grid width such as `7rem` or `minmax(8rem, 2fr)`. */
  readonly width?: string;
  /** For a `VirtualTable`, whose rows come sorted. */
  readonly order?: ColumnOrder;
}
