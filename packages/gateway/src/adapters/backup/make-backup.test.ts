import { mkdtempSync, readdirSync, readlinkSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, expect, test } from 'vitest';
import { makeBackup } from './make-backup.ts';
import { BackupError, storeName } from './manifest.ts';

const folder = mkdtempSync(join(tmpdir(), 'reeve-make-backup-'));
const source = { folder, policiesElsewhere: false, scratch: folder, version: '1.0.0' };

afterEach(() => rmSync(join(folder, storeName), { force: true }));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a store for whose copy the disk has no room is not copied', async () => {
  writeFileSync(join(folder, storeName), '');
  truncateSync(join(folder, storeName), 2 ** 43);
  const backup = makeBackup(source);
  await expect(backup).rejects.toThrow(BackupError);
  await expect(backup).rejects.toThrow(/not enough room/);
  expect(readdirSync(folder)).toEqual([storeName]);
});

test.runIf(process.platform === 'linux')('a backup that nobody has read frees its room', async () => {
  {
    using store = new DatabaseSync(join(folder, storeName));
    store.exec('CREATE TABLE audit (seq INTEGER, hash TEXT); PRAGMA user_version = 1');
  }
  const backup = await makeBackup(source);
  backup.stream();
  await new Promise((resolve) => setTimeout(resolve, 50));
  await backup[Symbol.asyncDispose]();
  expect(openFiles().filter((path) => path.startsWith(folder))).toEqual([]);
});

function openFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(join('/proc/self/fd', fd))];
    } catch {
      // The folder itself was open while it was listed.
      return [];
    }
  });
}
