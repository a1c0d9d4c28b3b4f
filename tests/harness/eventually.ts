import { setTimeout as sleep } from 'node:timers/promises';

/** Code that `npm run coverage` measures is slower, and gets as much more time as its tests get in all. */
export const patience = Number(process.env['REEVE_TEST_PATIENCE_MS'] ?? 60_000) / 60_000;

/** Retries an assertion until it holds. Fails with its last error. */
export async function eventually<Result>(assertion: () => Result | Promise<Result>, attempts = 200): Promise<Result> {
  for (let attempt = 1; attempt < attempts * patience; attempt++) {
    try {
      return await assertion();
    } catch {
      await sleep(50);
    }
  }
  return assertion();
}
