import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { BodyReader } from './read-body.ts';

const body = (...chunks: readonly Buffer[]) => {
  const stream = Readable.from(chunks) as unknown as IncomingMessage;
  stream.headers = {};
  return stream;
};
const bytes = (count: number) => Buffer.alloc(count, 32);

test('an agent cannot take all the room for bodies', async () => {
  const reader = new BodyReader({ most: 10_000, mostTogether: 100_000 });
  const held = [await reader.read(body(bytes(9000)), 'a'), await reader.read(body(bytes(9000)), 'a')];
  await expect(reader.read(body(bytes(9000)), 'a')).rejects.toMatchObject({ code: 'overloaded' });
  await reader.read(body(bytes(9000)), 'b');
  for (const each of held) each.release();
  await reader.read(body(bytes(9000)), 'a');
});

test('many small chunks take more room than their bytes', async () => {
  const reader = new BodyReader({ most: 10_000, mostTogether: 40_000 });
  const chunks = Array.from({ length: 1000 }, () => bytes(1));
  await expect(reader.read(body(...chunks), 'a')).rejects.toMatchObject({ code: 'overloaded' });
});
