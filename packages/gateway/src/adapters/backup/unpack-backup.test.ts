import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { writeArchive } from './archive.ts';
import { storeName } from './manifest.ts';
import { unpackBackup } from './unpack-backup.ts';

const place = mkdtempSync(join(tmpdir(), 'reeve-unpack-backup-'));
afterAll(() => rmSync(place, { recursive: true, force: true }));

test('a backup that says it is larger than the disk is not unpacked', async () => {
  const [archive, store, folder] = ['archive', 'store', 'folder'].map((name) => join(place, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(store, 'short');
  mkdirSync(folder);
  const zeros = '0'.repeat(64);
  writeArchive(
    archive,
    {
      format: 1,
      reeve_version: '1.0.0',
      created_at: '2026-01-01T00:00:00.000Z',
      schema_version: 1,
      head: { seq: 0, hash: zeros },
      entries: 0,
      policies: 'elsewhere',
      parts: [{ name: storeName, bytes: 2 ** 43, sha256: zeros }],
    },
    store,
    [],
  );
  await expect(unpackBackup(archive, { folder })).rejects.toThrow(/not enough room/);
  expect(readdirSync(folder)).toEqual([]);
});

test('a backup that is not there is an error of the call, and of nothing else', async () => {
  await expect(unpackBackup(join(place, 'missing'))).rejects.toMatchObject({ code: 'ENOENT' });
  await new Promise((resolve) => setTimeout(resolve, 50));
});
