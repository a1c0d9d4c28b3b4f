import type { ReactNode } from 'react';

export interface Column<Row> {
  readonly id: string;
  readonly header: ReactNode;
  readonly cell: (row: Row) => ReactNode;
  readonly align?: 'left' | 'right';
  /** Left out below 768 px, so that the rest fits. */
  readonly isWideOnly?: boolean;
  /** What the rows are ordered by when its header is chosen. Without it the column cannot be sorted. */
  readonly sortBy?: (row: Row) => string | number;
  /** Of a `VirtualTable`: a width of CSS grid such as `7rem` or `minmax(8rem, 2fr)`. */
  readonly width?: string;
  /** Of a `VirtualTable`, whose rows come sorted: whether they are by this column. The header is then a `SortButton`. */
  readonly sorted?: 'ascending' | 'descending' | 'none';
}
