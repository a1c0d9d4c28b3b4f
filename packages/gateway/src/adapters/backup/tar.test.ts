import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { TarReader, tarEnd, tarHeader, tarPadding } from './tar.ts';

const at = new Date(0);

interface File {
  readonly name: string;
  readonly content: Buffer;
}

function archiveOf(files: readonly File[]): Buffer {
  const parts = files.flatMap(({ name, content }) => [
    tarHeader(name, content.length, at),
    content,
    tarPadding(content.length),
  ]);
  return Buffer.concat([...parts, tarEnd]);
}

async function* pieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
}

async function read(bytes: Buffer, size = 1000): Promise<File[]> {
  const reader = new TarReader(pieces(bytes, size));
  const files: File[] = [];
  for (let next = await reader.next(); next !== undefined; next = await reader.next()) {
    const content: Buffer[] = [];
    for await (const piece of reader.content()) content.push(piece);
    files.push({ name: next.name, content: Buffer.concat(content) });
  }
  return files;
}

const someFile = fc.record({
  name: fc.stringMatching(/^[a-zäß]{1,60}(\/[a-zäß]{1,60}){0,3}$/),
  content: fc.uint8Array({ maxLength: 2000 }).map((bytes) => Buffer.from(bytes)),
});

test('what is written is read again, however the bytes arrive', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(someFile, { maxLength: 4 }), fc.integer({ min: 1, max: 3000 }), async (files, size) => {
      expect(await read(archiveOf(files), size)).toEqual(files);
    }),
    { numRuns: 100 },
  );
});

test('tar reads it, with long names, too', () => {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-tar-'));
  const name = `policies/${'long'.repeat(40)}/ä.yaml`;
  writeFileSync(join(folder, 'a.tar'), archiveOf([{ name, content: Buffer.from('text') }]));
  execFileSync('tar', ['xf', 'a.tar'], { cwd: folder });
  expect(readFileSync(join(folder, name), 'utf8')).toBe('text');
  rmSync(folder, { recursive: true });
});

test('a file of more than 8 GiB has its size in an extended header', async () => {
  const bytes = 20 * 2 ** 30;
  const reader = new TarReader(pieces(tarHeader('reeve.db', bytes, at), 512));
  expect(await reader.next()).toEqual({ name: 'reeve.db', bytes });
});

test('an archive that is cut off, goes on, or has another kind of entry is refused', async () => {
  const good = archiveOf([{ name: 'a', content: Buffer.from('text') }]);
  for (let length = 0; length < good.length; length += 100) {
    await expect(read(good.subarray(0, length))).rejects.toThrow('it is not complete');
  }
  await expect(read(Buffer.concat([good, Buffer.from('x')]))).rejects.toThrow('something follows its end');
  const link = Buffer.from(good);
  link.write('2', 156);
  await expect(read(link)).rejects.toThrow('a header in it is damaged');
});
