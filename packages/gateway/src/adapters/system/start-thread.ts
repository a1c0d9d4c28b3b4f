import { getCompileCacheDir } from 'node:module';
import type { WorkerOptions } from 'node:worker_threads';
import { Worker } from 'node:worker_threads';

const boot = new URL('thread-boot.mjs', import.meta.url);

/**
 * A thread that runs one of our modules, with its data. A thread does not share the compile cache of its process by itself:
 * left alone, it would translate its sources anew at every start, which takes longer than all else that it does then.
 */
export function startThread(module: URL, data: object = {}, options: WorkerOptions = {}): Worker {
  const workerData = { ...data, boot: { module: module.href, compileCache: getCompileCacheDir() } };
  return new Worker(boot, { ...options, workerData });
}
