import { once } from 'node:events';
import { startThread } from '../system/start-thread.ts';

/** Starts the thread that checkpoints the write-ahead log; the returned function ends it. */
export function startCheckpointer(path: string, everyMs = 250): () => Promise<void> {
  const worker = startThread(new URL('checkpoint-worker.ts', import.meta.url), { path, everyMs });
  worker.unref();
  return async () => {
    worker.ref();
    const ended = once(worker, 'exit');
    worker.postMessage('end');
    await ended;
  };
}
