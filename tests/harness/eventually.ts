import { setTimeout as sleep } from 'node:timers/promises';

/** Retries an assertion until it holds. Fails with its last error. */
export async function eventually<Result>(assertion: () => Result | Promise<Result>, attempts = 200): Promise<Result> {
  for (let attempt = 1; attempt < attempts; attempt++) {
    try {
      return await assertion();
    } catch {
      await sleep(50);
    }
  }
  return assertion();
}
