// Takes the place of packages/gateway/src/adapters/system/start-thread.ts in the single executable, which has the code
// of its threads inside.
import { getAsset } from 'node:sea';
import type { WorkerOptions } from 'node:worker_threads';
import { Worker } from 'node:worker_threads';

export function startThread(module: URL, data: object = {}, options: WorkerOptions = {}): Worker {
  const code = getAsset(`threads/${module.pathname}`, 'utf8');
  return new Worker(code, { ...options, eval: true, workerData: data });
}
