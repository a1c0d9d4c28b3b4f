import { existsSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withLock } from './file-lock.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'reeve-lock-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

test('work under a lock never overlaps, and the lock goes away', async () => {
  const path = join(folder, 'many.lock');
  let inside = 0;
  let most = 0;
  await Promise.all(
    Array.from({ length: 10 }, () =>
      withLock(path, async () => {
        most = Math.max(most, ++inside);
        await new Promise((resolve) => setTimeout(resolve, 5));
        inside--;
      }),
    ),
  );
  expect(most).toBe(1);
  expect(existsSync(path)).toBe(false);
});

test('work that fails lets go of the lock', async () => {
  const path = join(folder, 'failing.lock');
  await expect(withLock(path, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(existsSync(path)).toBe(false);
});

test('a lock that is too old to be anybody’s is taken over', async () => {
  const path = join(folder, 'old.lock');
  writeFileSync(path, `${process.pid} 0.1`);
  utimesSync(path, new Date(0), new Date(0));
  expect(await withLock(path, () => Promise.resolve('done'))).toBe('done');
});
