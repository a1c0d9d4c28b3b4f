import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { expect, test } from 'vitest';
import { Outbox } from './outbox.ts';

/** A socket whose peer takes everything at once, and what it got, write by write. */
function taking(): { readonly socket: Socket; readonly writes: Buffer[] } {
  const writes: Buffer[] = [];
  const write = (chunk: Buffer, _: string, done: () => void) => {
    writes.push(Buffer.from(chunk));
    done();
  };
  return { socket: new Duplex({ write, read: () => undefined }) as unknown as Socket, writes };
}

test('connections that answer in the same turn, over and over, use the same buffers', () => {
  const outboxes = Array.from({ length: 64 }, () => new Outbox(taking().socket, () => undefined));
  const used = new Set<Buffer>();
  for (let turn = 0; turn < 10; turn++) {
    for (const outbox of outboxes) {
      outbox.put(Buffer.alloc(200));
      used.add(outbox.buffer);
    }
    for (const outbox of outboxes) outbox.flush();
  }
  expect(used.size).toBe(outboxes.length);
  expect([...used].every(({ length }) => length === 4096)).toBe(true);
});

test('what outgrows a small buffer leaves in one write', () => {
  const { socket, writes } = taking();
  const outbox = new Outbox(socket, () => undefined);
  const parts = Array.from({ length: 100 }, (_, at) => Buffer.alloc(200, at));
  for (const part of parts) outbox.put(part);
  outbox.flush();
  expect(writes).toEqual([Buffer.concat(parts)]);
});

test.each([
  ['just fits a small buffer', [4096]],
  ['fills a small buffer to the last byte', [4000, 96, 1]],
  ['needs a large buffer at once', [30_000, 30_000, 30_000]],
  ['needs a small buffer after a large one', [30_000, 35_000, 100, 5000]],
])('every byte arrives in order if it %s', (_, sizes) => {
  const { socket, writes } = taking();
  const outbox = new Outbox(socket, () => undefined);
  const parts = sizes.map((size, at) => Buffer.alloc(size, at + 1));
  for (const part of parts) outbox.put(part);
  outbox.flush();
  expect(Buffer.concat(writes)).toEqual(Buffer.concat(parts));
});
