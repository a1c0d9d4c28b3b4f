import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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

const content = 'a small store';

/** A small archive, with its seal or as earlier releases made it. */
function smallArchive(name: string, sealed: { readonly sealed?: true }): Buffer {
  const [archive, store] = [join(place, name), join(place, `${name}-store`)];
  writeFileSync(store, content);
  const sha256 = createHash('sha256').update(content).digest('hex');
  const manifest = {
    format: 1,
    reeve_version: '1.0.0',
    created_at: '2026-01-01T00:00:00.000Z',
    schema_version: 1,
    head: { seq: 0, hash: '0'.repeat(64) },
    entries: 0,
    policies: 'elsewhere' as const,
    ...sealed,
    parts: [{ name: storeName, bytes: content.length, sha256 }],
  };
  writeArchive(archive, manifest, store, []);
  return readFileSync(archive);
}

test('every flipped bit of an archive is noticed', async () => {
  const good = smallArchive('sealed', { sealed: true });
  const missed: string[] = [];
  const tryBit = async (at: number, bit: number) => {
    const copy = Buffer.from(good);
    copy[at] = (copy[at] ?? 0) ^ (1 << bit);
    const damaged = join(place, `damaged-${bit}`);
    writeFileSync(damaged, copy);
    const noticed = await unpackBackup(damaged).then(
      () => false,
      () => true,
    );
    if (!noticed) missed.push(`bit ${bit} of byte ${at}`);
  };
  const last = good.length - 1;
  for (let at = 0; at <= last; at++) {
    // The zeros at the end of a tar archive are alike: one bit of each byte will do.
    const bits = at > last - 1000 && at < last - 50 ? [at % 8] : [0, 1, 2, 3, 4, 5, 6, 7];
    await Promise.all(bits.map((bit) => tryBit(at, bit)));
  }
  expect(missed).toEqual([]);
  expect((await unpackBackup(join(place, 'sealed'))).sealed).toBe(true);
});

test.each([{}, { sealed: true } as const])('whatever follows the end of an archive is noticed (%j)', async (sealed) => {
  const good = smallArchive(sealed.sealed === true ? 'whole' : 'older', sealed);
  const longer = join(place, 'longer');
  for (const rest of [Buffer.from([0]), Buffer.from('more'), good]) {
    writeFileSync(longer, Buffer.concat([good, rest]));
    await expect(unpackBackup(longer)).rejects.toThrow(/follows its end|damaged/);
  }
});

test('a backup that is not there is an error of the call, and of nothing else', async () => {
  await expect(unpackBackup(join(place, 'missing'))).rejects.toMatchObject({ code: 'ENOENT' });
  await new Promise((resolve) => setTimeout(resolve, 50));
});
