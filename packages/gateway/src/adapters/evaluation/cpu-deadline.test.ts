import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { CpuDeadline } from './cpu-deadline.ts';

const waiting = 'setTimeout(() => {}, 700)';
const computing = 'for (;;);';

test('a thread that only waits has not used its time', async () => {
  let isPassed = false;
  const worker = new Worker(waiting, { eval: true });
  const deadline = new CpuDeadline(worker, 500, () => (isPassed = true));
  await once(worker, 'exit');
  deadline.clear();
  expect(isPassed).toBe(false);
});

test('one that computes has', async () => {
  const worker = new Worker(computing, { eval: true });
  const { promise, resolve } = Promise.withResolvers<void>();
  const deadline = new CpuDeadline(worker, 20, resolve);
  await promise;
  deadline.clear();
  await worker.terminate();
});

test('one that is done is left alone', async () => {
  let isPassed = false;
  const worker = new Worker(computing, { eval: true });
  const deadline = new CpuDeadline(worker, 20, () => (isPassed = true));
  deadline.clear();
  await new Promise((resolve) => setTimeout(resolve, 200));
  await worker.terminate();
  expect(isPassed).toBe(false);
});
