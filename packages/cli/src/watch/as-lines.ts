import type { GlobalValues } from '../command-line/command.ts';
import { cleanText, escapeControls } from '../output/clean-text.ts';
import { dataText, note } from '../output/print.ts';
import type { Shell } from '../shell.ts';
import { onInterruption } from '../terminal/interruption.ts';
import type { Watch } from './watch-list.ts';

export interface LineView<Item> {
  readonly watch: Watch<Item>;
  readonly keyOf: (item: Item) => string;
  /** A change of this mark prints the item again. */
  readonly markOf: (item: Item) => string;
  /** Whether an item comes from before what is known of it. */
  readonly isOlder: (item: Item, known: Item) => boolean;
  readonly isOver: (item: Item) => boolean;
  readonly cells: (item: Item) => readonly string[];
}

/** How long an ended item is remembered, because a list after a gap may repeat it. */
const rememberMs = 120_000;

/** A list as lines: the existing items, oldest first, then each change, until the command is interrupted. */
export async function asLines<Item>(
  shell: Shell,
  globals: GlobalValues,
  { watch, keyOf, markOf, isOlder, isOver, cells }: LineView<Item>,
): Promise<number> {
  using interruption = onInterruption();
  const shown = new Map<string, Item>();
  const show = (item: Item) => {
    const key = keyOf(item);
    const known = shown.get(key);
    // A list after a gap repeats known items, and the stream what came before the list.
    if (known !== undefined && (markOf(known) === markOf(item) || isOlder(item, known))) return;
    shown.set(key, item);
    shell.stdout.write(lineOf(globals, item, cells));
    if (isOver(item)) setTimeout(() => shown.delete(key), rememberMs).unref();
  };
  const listener = {
    onAll: (items: readonly Item[]) => items.forEach(show),
    onChange: show,
    onConnection: (state: 'live' | 'lost', why?: string) => {
      if (state === 'lost') note(shell, `${why}. Connecting again.`);
    },
  };
  await watch(listener, { signal: interruption.signal, timeoutMs: globals.timeout * 1000 });
  return 0;
}

function lineOf<Item>({ output }: GlobalValues, item: Item, cells: LineView<Item>['cells']): string {
  if (output === 'json') return `${escapeControls(JSON.stringify(item))}\n`;
  if (output === 'yaml') return `---\n${dataText('yaml', item)}`;
  const line = cells(item)
    .map((cell) => cleanText(cell))
    .join('  ');
  return `${line.trimEnd()}\n`;
}
