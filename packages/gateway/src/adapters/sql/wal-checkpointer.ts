import type { Worker } from 'node:worker_threads';
import { startThread } from '../system/start-thread.ts';

/** How long to wait before replacing a lost thread, for example after it ran out of memory. */
const againMs = 1000;

/** Starts the thread that checkpoints the write-ahead log; the returned function ends it. */
export function startCheckpointer(path: string, everyMs = 250): () => Promise<void> {
  let worker: Worker | undefined;
  let again: NodeJS.Timeout | undefined;
  let ending = false;
  const start = () => {
    const started = startThread(new URL('checkpoint-worker.ts', import.meta.url), { path, everyMs });
    worker = started;
    started.unref();
    started.on('error', () => undefined);
    started.on('exit', () => {
      worker = undefined;
      if (!ending) again = setTimeout(start, againMs).unref();
    });
  };
  start();
  return async () => {
    ending = true;
    clearTimeout(again);
    const last = worker;
    if (last === undefined) return;
    last.ref();
    const ended = new Promise((resolve) => last.once('exit', resolve));
    last.postMessage('end');
    await ended;
  };
}
