import type { Worker } from 'node:worker_threads';
import { startThread } from '../system/start-thread.ts';

/** How long to wait before replacing a lost thread, for example after it ran out of memory. */
const againMs = 1000;
/** Commits never wait longer than this, whatever the disk does. */
const longestPauseMs = 500;
/** The log may grow to this many pages of 4 KiB, 128 MiB, before commits wait for a checkpoint. */
const mostFrames = 32_768;

/** The writer of the log, whose commits can be made to wait. */
export interface WalWriter {
  /** Lets commits wait until the returned function is called. */
  pause(): () => void;
  /** Told after each checkpoint how long the file of the log is. */
  trimWal(walBytes: number): void;
}

export interface CheckpointerData {
  readonly path: string;
  readonly everyMs: number;
  readonly mostFrames: number;
}

export type FromCheckpointer = 'pause' | 'go on' | { readonly walBytes: number };
export type ToCheckpointer = 'paused' | 'end';

/** Starts the thread that checkpoints the write-ahead log; the returned function ends it. */
export function startCheckpointer(
  path: string,
  writer: WalWriter,
  options: Partial<Omit<CheckpointerData, 'path'>> = {},
): () => Promise<void> {
  const data: CheckpointerData = { everyMs: 250, mostFrames, ...options, path };
  let worker: Worker | undefined;
  let again: NodeJS.Timeout | undefined;
  let ending = false;
  const pauses = new Pauses(writer);
  const start = () => {
    const started = startThread(new URL('checkpoint-worker.ts', import.meta.url), data);
    worker = started;
    started.unref();
    started.on('error', () => undefined);
    started.on('message', (message: FromCheckpointer) => {
      if (typeof message === 'object') writer.trimWal(message.walBytes);
      else if (message === 'go on') pauses.end();
      else if (!ending) {
        pauses.begin();
        started.postMessage('paused' satisfies ToCheckpointer);
      }
    });
    started.on('exit', () => {
      worker = undefined;
      pauses.end();
      if (!ending) again = setTimeout(start, againMs).unref();
    });
  };
  start();
  return async () => {
    ending = true;
    clearTimeout(again);
    pauses.end();
    const last = worker;
    if (last === undefined) return;
    last.ref();
    const ended = new Promise((resolve) => last.once('exit', resolve));
    last.postMessage('end' satisfies ToCheckpointer);
    await ended;
  };
}

/** One pause at a time, each of which ends. */
class Pauses {
  readonly #writer: WalWriter;
  #goOn: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(writer: WalWriter) {
    this.#writer = writer;
  }

  begin(): void {
    this.end();
    this.#goOn = this.#writer.pause();
    this.#timer = setTimeout(() => this.end(), longestPauseMs);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#goOn?.();
    this.#goOn = undefined;
  }
}
