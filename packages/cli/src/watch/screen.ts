import type { Shell } from '../shell.ts';
import type { ScreenSize } from './render-watch.ts';

const enter = '\u001b[?1049h\u001b[?25l';
const leave = '\u001b[?25h\u001b[?1049l';

/** Takes over the whole terminal, and restores it in any case. */
export class Screen implements Disposable {
  readonly #shell: Shell;
  readonly #onKey: (chunk: Buffer) => void;
  readonly #giveBack = () => this[Symbol.dispose]();
  #isOpen = true;
  #drawn = '';

  constructor(shell: Shell, onKey: (key: string) => void, onResize: () => void) {
    this.#shell = shell;
    this.#onKey = (chunk) => {
      for (const key of keysIn(chunk.toString('utf8'))) onKey(key);
    };
    shell.stdout.write(enter);
    shell.stdin.setRawMode(true);
    shell.stdin.on('data', this.#onKey);
    shell.stdin.resume();
    shell.stdout.on('resize', () => {
      this.#drawn = '';
      onResize();
    });
    process.once('exit', this.#giveBack);
  }

  get size(): ScreenSize {
    const { columns, rows } = this.#shell.stdout;
    return { columns: columns || 80, rows: rows || 24 };
  }

  /** Redraws in place, without flicker. */
  draw(lines: readonly string[]): void {
    const text = lines.join('\n');
    if (!this.#isOpen || text === this.#drawn) return;
    this.#drawn = text;
    this.#shell.stdout.write(`\u001b[H${lines.map((line) => `${line}\u001b[0m\u001b[K`).join('\r\n')}\u001b[J`);
  }

  [Symbol.dispose](): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    process.off('exit', this.#giveBack);
    const { stdin, stdout } = this.#shell;
    stdin.off('data', this.#onKey);
    stdin.setRawMode(false);
    stdin.pause();
    stdout.write(leave);
  }
}

/** Single keys: arrows by name, everything else unchanged. */
export function keysIn(text: string): string[] {
  // oxlint-disable-next-line no-control-regex
  const pieces = text.match(/\u001b\[[0-9;?]*[ -/]*[@-~]|\u001bO.|[^]/gu) ?? [];
  const names: Readonly<Record<string, string>> = {
    '\u001b[A': 'up',
    '\u001bOA': 'up',
    '\u001b[B': 'down',
    '\u001bOB': 'down',
    '\u001b[5~': 'page up',
    '\u001b[6~': 'page down',
    '\u0003': 'interrupt',
    '\u0004': 'interrupt',
    '\u001b': 'escape',
    '\r': 'enter',
    '\n': 'enter',
  };
  return pieces.map((piece) => names[piece] ?? piece);
}
