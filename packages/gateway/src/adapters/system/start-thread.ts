import { getCompileCacheDir } from 'node:module';
import type { WorkerOptions } from 'node:worker_threads';
import { Worker } from 'node:worker_threads';

const boot = new URL('thread-boot.mjs', import.meta.url);

/**
 * Starts a thread with one of our modules and its data. A thread does not share the compile cache of its process by
 * default. Without it, the thread would translate its sources at every start, which takes longer than all its other
 * startup work.
 */
export function startThread(module: URL, data: object = {}, options: WorkerOptions = {}): Worker {
  const workerData = { ...data, boot: { module: module.href, compileCache: getCompileCacheDir() } };
  return new Worker(boot, { ...options, workerData });
}
