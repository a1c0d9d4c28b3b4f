import type { Shell } from '../shell.ts';
import { hasColours } from './colour.ts';
import type { Column } from './table.ts';
import { renderTable } from './table.ts';

/** A table in the width and the colours of this terminal. */
export function tableText<Row>(shell: Shell, columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const width = shell.stdout.isTTY && shell.isWide !== true ? shell.stdout.columns : undefined;
  return renderTable(columns, rows, { width, hasColours: hasColours(shell) });
}
