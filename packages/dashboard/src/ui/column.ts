import type { ReactNode } from 'react';

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
  /** For a `VirtualTable`, whose rows come sorted: whether by this column. The header is then a `SortButton`. */
  readonly sorted?: 'ascending' | 'descending' | 'none';
}
