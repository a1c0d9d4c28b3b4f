import type { GlobalValues } from '../command-line/command.ts';
import { hasColours } from '../output/colour.ts';
import type { Shell } from '../shell.ts';
import { onInterruption } from '../terminal/interruption.ts';
import type { ScreenSize } from './render-watch.ts';
import { Screen } from './screen.ts';
import type { Watch } from './watch-list.ts';

/** The model of a live view. */
interface LiveModel<Item> {
  /** Set while a question waits for confirmation. */
  readonly asking: unknown;
  connection: 'live' | 'lost';
  reset(items: readonly Item[], now: number): void;
  change(item: Item, now: number): void;
  /** Drops items that ended a while ago. */
  forget(now: number): void;
}

export interface LiveView<Item> {
  readonly model: LiveModel<Item>;
  readonly watch: Watch<Item>;
  readonly render: (size: ScreenSize, hasColours: boolean) => readonly string[];
  readonly press: (key: string) => Promise<void>;
}

const drawEveryMs = 100;
const forgetEveryMs = 1000;

/** Keys that move the selection, in every live view. */
export const steps: Readonly<Record<string, number>> = {
  up: -1,
  k: -1,
  down: 1,
  j: 1,
  'page up': -10,
  'page down': 10,
};

/** A live view on the whole terminal, until q, Ctrl-C or an interruption. */
export async function onScreen<Item>(
  shell: Shell,
  globals: GlobalValues,
  { model, watch, render, press }: LiveView<Item>,
): Promise<number> {
  using interruption = onInterruption();
  const quit = new AbortController();
  const signal = AbortSignal.any([interruption.signal, quit.signal]);
  let timer: NodeJS.Timeout | undefined;
  const draw = () => {
    timer = undefined;
    screen.draw(render(screen.size, hasColours(shell)));
  };
  const drawSoon = () => {
    timer ??= setTimeout(draw, drawEveryMs);
  };
  const onKey = (key: string) => {
    if (key === 'interrupt' || (key === 'q' && model.asking === undefined)) quit.abort();
    else void press(key).then(drawSoon);
    drawSoon();
  };
  using screen = new Screen(shell, onKey, drawSoon);
  draw();
  const forgetting = setInterval(() => {
    model.forget(performance.now());
    drawSoon();
  }, forgetEveryMs);
  const listener = {
    onAll: (items: readonly Item[]) => (model.reset(items, performance.now()), drawSoon()),
    onChange: (item: Item) => (model.change(item, performance.now()), drawSoon()),
    onConnection: (state: 'live' | 'lost') => ((model.connection = state), drawSoon()),
  };
  try {
    await watch(listener, { signal, timeoutMs: globals.timeout * 1000 });
  } finally {
    clearInterval(forgetting);
    clearTimeout(timer);
  }
  return 0;
}
