import { existsSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../../../tests/harness/eventually.ts';
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

test('a lock stays with whoever holds it, however long that takes', async () => {
  const path = join(folder, 'long.lock');
  await withLock(path, async () => {
    const long = new Date(Date.now() - 25_000);
    utimesSync(path, long, long);
    await eventually(() => expect(statSync(path).mtimeMs).toBeGreaterThan(long.getTime()));
  });
});

test('whoever has lost the lock knows it, and leaves it to the one who has it', async () => {
  const path = join(folder, 'lost.lock');
  await withLock(path, async (requireHeld) => {
    requireHeld();
    writeFileSync(path, `${process.pid} 0.5`);
    expect(requireHeld).toThrow('taken over');
  });
  expect(existsSync(path)).toBe(true);
});
