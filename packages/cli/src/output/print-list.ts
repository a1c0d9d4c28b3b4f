import type { GlobalValues } from '../command-line/command.ts';
import type { Page } from '../http/pages.ts';
import { moreToCome } from '../http/pages.ts';
import type { Shell } from '../shell.ts';
import { note, print } from './print.ts';
import { tableText } from './table-text.ts';
import type { Column } from './table.ts';

/** Prints a list: as a table with a remark if there is more, or as data in the form of the HTTP API. */
export function printList<Item>(
  shell: Shell,
  { output }: GlobalValues,
  page: Page<Item>,
  columns: readonly Column<Item>[],
  none: string,
): void {
  print(shell, output, page, () => (page.items.length === 0 ? none : tableText(shell, columns, page.items)));
  const more = moreToCome(page);
  if (more !== undefined && output === 'table') note(shell, more);
}
