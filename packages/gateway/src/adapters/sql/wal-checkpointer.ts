import type { Worker } from 'node:worker_threads';
import { startThread } from '../system/start-thread.ts';

/** How long to wait before replacing a lost thread, for example after it ran out of memory. */
const againMs = 1000;
/** Commits never wait longer than this, whatever the disk does. */
const longestPauseMs = 500;
/** How long reads wait at most until the last one is done. They would wait for it in any case. */
const longestRestMs = 10_000;
/** The log may grow to this many pages of 4 KiB, 128 MiB, before commits wait for a checkpoint. */
const mostFrames = 32_768;

/** The writer of the log, whose commits can be made to wait. */
export interface WalWriter {
  /** Lets commits wait until the returned function is called. */
  pause(): () => void;
  /** Told after each checkpoint how long the file of the log is. */
  trimWal(walBytes: number): void;
}

/** Whoever reads the log in another thread. */
export interface WalReader {
  /** Lets further reads wait until `goOn` is called. */
  rest(): { readonly idle: Promise<void>; goOn(): void };
}

export interface CheckpointerData {
  readonly path: string;
  readonly everyMs: number;
  readonly mostFrames: number;
}

/** `rest`: readers shall wait. `pause`: commits shall wait as well. */
export type FromCheckpointer =
  | 'rest'
  | 'pause'
  | 'go on'
  | { readonly walBytes: number }
  | { readonly failedWith: string };
export type ToCheckpointer = 'resting' | 'paused' | 'not now' | 'end';

export interface CheckpointerOptions extends Partial<Omit<CheckpointerData, 'path'>> {
  /** Called when checkpoints begin to fail, not for each that does. */
  readonly onFailure?: (error: string) => void;
}

export interface Checkpointer {
  /** How long the file of the log was after the last checkpoint. */
  readonly walBytes: number;
  end(): Promise<void>;
}

/** Starts the thread that checkpoints the write-ahead log. */
export function startCheckpointer(
  path: string,
  writer: WalWriter,
  reader: WalReader,
  { onFailure, ...options }: CheckpointerOptions = {},
): Checkpointer {
  const data: CheckpointerData = { everyMs: 250, mostFrames, ...options, path };
  let walBytes = 0;
  let worker: Worker | undefined;
  let again: NodeJS.Timeout | undefined;
  let ending = false;
  const pauses = new Pauses(writer, reader);
  const start = () => {
    const started = startThread(new URL('checkpoint-worker.ts', import.meta.url), data);
    worker = started;
    started.unref();
    started.on('error', (error) => onFailure?.(String(error)));
    started.on('message', (message: FromCheckpointer) => {
      if (typeof message === 'object') {
        if ('failedWith' in message) {
          onFailure?.(message.failedWith);
          return;
        }
        ({ walBytes } = message);
        writer.trimWal(walBytes);
      } else if (message === 'go on') pauses.end();
      else if (message === 'pause') answer(started, pauses.begin() ? 'paused' : 'not now');
      else if (!ending) void pauses.rest().then((isResting) => answer(started, isResting ? 'resting' : 'not now'));
    });
    started.on('exit', () => {
      worker = undefined;
      pauses.end();
      if (!ending) again = setTimeout(start, againMs).unref();
    });
  };
  start();
  return {
    get walBytes() {
      return walBytes;
    },
    async end() {
      ending = true;
      clearTimeout(again);
      pauses.end();
      const last = worker;
      if (last === undefined) return;
      last.ref();
      const ended = new Promise((resolve) => last.once('exit', resolve));
      answer(last, 'end');
      await ended;
    },
  };
}

function answer(worker: Worker, message: ToCheckpointer): void {
  worker.postMessage(message);
}

/** One pause at a time, each of which ends. */
export class Pauses {
  readonly #writer: Pick<WalWriter, 'pause'>;
  readonly #reader: WalReader;
  /** How to end the present one. */
  #endings: (() => void)[] = [];
  #begun = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(writer: Pick<WalWriter, 'pause'>, reader: WalReader) {
    this.#writer = writer;
    this.#reader = reader;
  }

  /** Lets reads wait, and resolves once none is under way. False if it was ended before that. */
  async rest(): Promise<boolean> {
    this.end();
    const mine = ++this.#begun;
    const { idle, goOn } = this.#reader.rest();
    this.#endings.push(goOn);
    this.#endAfter(longestRestMs);
    await idle;
    return this.#begun === mine && this.#endings.length > 0;
  }

  /** Lets commits wait, too. False if reads go on already. */
  begin(): boolean {
    if (this.#endings.length === 0) return false;
    this.#endings.push(this.#writer.pause());
    this.#endAfter(longestPauseMs);
    return true;
  }

  end(): void {
    clearTimeout(this.#timer);
    for (const end of this.#endings.splice(0)) end();
  }

  #endAfter(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.end(), ms).unref();
  }
}
