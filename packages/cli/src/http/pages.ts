import { CliError } from '../cli-error.ts';
import { flag, number, text } from '../command-line/values.ts';
import { counted } from '../output/duration.ts';

/** How much of a list to read. */
export const pageOptions = {
  all: flag('All pages, instead of the first.'),
  perPage: number('N', 'How many on a page, 1 to 1000. Default: 50.', { min: 1, max: 1000 }),
  cursor: text('CURSOR', 'The page that a next_cursor leads to.'),
};

export interface PageChoice {
  readonly all: boolean;
  readonly perPage: number | undefined;
  readonly cursor: string | undefined;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly next_cursor: string | null;
  readonly total?: number;
}

interface PageQuery {
  readonly per_page: number | undefined;
  readonly cursor: string | undefined;
}

/** Reads one page, or all of them as one. */
export async function readPages<Item>(
  { all, perPage, cursor }: PageChoice,
  read: (query: PageQuery) => Promise<Page<Item>>,
): Promise<Page<Item>> {
  if (!all) return checked(await read({ per_page: perPage, cursor }));
  const items: Item[] = [];
  for (let next = cursor; ; ) {
    const page = checked(await read({ per_page: perPage ?? 1000, cursor: next }));
    for (const item of page.items) items.push(item);
    if (page.next_cursor === null) return { ...page, items };
    if (page.next_cursor === next) throw new CliError('the gateway answers with the same page again and again');
    next = page.next_cursor;
  }
}

/** The remark under a page that is not the last. */
export function moreToCome({ items, next_cursor: cursor, total }: Page<unknown>): string | undefined {
  if (cursor === null) return undefined;
  const shown =
    total === undefined ? `${counted(items.length, 'entry', 'entries')} shown` : `${items.length} of ${total} shown`;
  return `${shown}. There is more: --all, or --cursor ${cursor}`;
}

function checked<Item>(page: Page<Item>): Page<Item> {
  if (!Array.isArray(page?.items)) throw new CliError('the answer is no list. Is that the URL of a gateway?');
  return { ...page, next_cursor: page.next_cursor ?? null };
}
