import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { createServer } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream';
import { operator } from '@reeve/core/testkit';
import { expect, test } from 'vitest';
import type { RawAnswer } from '../handler.ts';
import { backupHandlers } from './backups.ts';

const piece = Buffer.alloc(256 * 1024);

/** A backup that is larger than what sockets hold. */
async function* pieces(): AsyncGenerator<Buffer> {
  for (let sent = 0; sent < 400; sent++) yield await Promise.resolve(piece);
}

function world(pace: Parameters<typeof backupHandlers>[3]) {
  const seen = { made: 0, freed: 0, taken: [] as number[] };
  const ready = () => {
    seen.made++;
    return Promise.resolve({
      manifest: { created_at: '2026-01-01T00:00:00.000Z', head: { seq: 1, hash: 'a' } },
      bytes: 400 * piece.length,
      sha256: '',
      stream: pieces,
      [Symbol.asyncDispose]: () => Promise.resolve(void seen.freed++),
    });
  };
  const { createBackup } = backupHandlers(
    ready,
    () => Promise.resolve(),
    (at) => seen.taken.push(at),
    pace,
  );
  const principal = { ...operator, orgId: null };
  const call = {
    requestId: 'r',
    hasLeft: () => false,
    from: { address: '', userAgent: '', requestId: 'r' },
    principal,
  };
  const input = { query: undefined, headers: undefined, params: undefined, body: undefined };
  const create = async () => ((await createBackup(input, call)) as RawAnswer).body as Readable;
  return { seen, create };
}

test.each([
  ['takes nothing', { patienceMs: 200, leastBytesPerSec: 0 }, () => undefined],
  // A piece of 256 KiB now and then is never nothing for 2 seconds.
  ['trickles', { patienceMs: 2000, leastBytesPerSec: 1e9 }, (take: () => void) => void setInterval(take, 100).unref()],
])('a client that %s gives the slot back', async (_how, pace, read) => {
  const { seen, create } = world(pace);
  const server = createServer((_request, response) => {
    void create().then((body) => pipeline(body, response, () => response.destroy()));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => undefined);
  client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  client.pause();
  read(() => void client.read());
  await expect.poll(() => seen.made).toBe(1);
  await expect(create()).rejects.toMatchObject({ code: 'backup_running' });
  await expect.poll(() => seen.freed, { timeout: 30_000 }).toBe(1);
  (await create()).destroy();
  expect(seen.made).toBe(2);
  expect(seen.taken).toEqual([]);
  client.destroy();
  server.close();
});

test('a backup counts as taken once its last byte has left', async () => {
  const { seen, create } = world({ patienceMs: 30_000, leastBytesPerSec: 0 });
  for await (const bytes of await create()) {
    expect(bytes).toHaveLength(piece.length);
    expect(seen.taken).toEqual([]);
  }
  await expect.poll(() => seen.freed).toBe(1);
  expect(seen.taken).toEqual([Date.UTC(2026, 0, 1)]);
});
