import type { IncomingMessage } from 'node:http';
import { PassThrough, Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { BodyReader } from './read-body.ts';

const withHeaders = (stream: Readable) => Object.assign(stream, { headers: {} }) as unknown as IncomingMessage;
const body = (...chunks: readonly Buffer[]) => withHeaders(Readable.from(chunks));
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

test.each([
  ['before it is read', true],
  ['in the middle', false],
])('a request that breaks off %s leaves no room taken', async (_when, isBefore) => {
  const reader = new BodyReader({ most: 10_000, mostTogether: 15_000 });
  for (let round = 0; round < 4; round++) {
    const request = new PassThrough();
    request.write(bytes(6000));
    if (isBefore) request.destroy();
    const refused = expect(reader.read(withHeaders(request), 'a')).rejects.toThrow('broke off');
    setImmediate(() => request.destroy());
    await refused;
  }
  await reader.read(body(bytes(9000)), 'a');
});
