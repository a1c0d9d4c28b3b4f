import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { eachChunk } from './each-chunk.ts';

/** A message without a connection. `complete` is set by whoever ends it. */
function message(): PassThrough & { complete: boolean } {
  return Object.assign(new PassThrough(), { complete: false });
}

const chunksOf = (source: PassThrough, take: (chunk: Buffer) => Promise<void>) =>
  eachChunk(source as unknown as IncomingMessage, take);

/** Lets everything happen that is due. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('every byte is taken once and in order, never two at a time, however slow the taker is', async () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 100_000 }), { maxLength: 12 });
  const property = fc.asyncProperty(sizes, fc.boolean(), async (lengths, isSlow) => {
    const source = message();
    const taken: Buffer[] = [];
    let atOnce = 0;
    const done = chunksOf(source, async (chunk) => {
      expect(++atOnce).toBe(1);
      if (isSlow) await turn();
      taken.push(chunk);
      atOnce--;
    });
    const sent = lengths.map((length, at) => Buffer.alloc(length, at));
    for (const chunk of sent) source.write(chunk);
    source.end();
    await done;
    expect(Buffer.concat(taken).equals(Buffer.concat(sent))).toBe(true);
  });
  await fc.assert(property, { numRuns: 50 });
});

test('a slow taker makes the sender wait', async () => {
  const source = message();
  const { promise, resolve } = Promise.withResolvers<void>();
  const done = chunksOf(source, () => promise);
  while (source.write(Buffer.alloc(50_000))) await turn();
  for (let at = 0; at < 20; at++) await turn();
  expect(source.isPaused()).toBe(true);
  resolve();
  source.end();
  await done;
});

test('what came with its end is over without another turn', async () => {
  const source = message();
  const done = chunksOf(source, async () => {});
  source.write('all of it');
  source.complete = true;
  await done;
  expect(source.readableEnded).toBe(false);
});

test('an error of the taker ends it, and nothing more is taken', async () => {
  const source = message();
  let taken = 0;
  const done = chunksOf(source, async () => {
    taken++;
    throw new Error('stopped');
  });
  const refused = expect(done).rejects.toThrow('stopped');
  source.write('one');
  await refused;
  expect([taken, source.destroyed]).toEqual([1, true]);
});

test.each([
  ['breaks off', (source: PassThrough) => source.destroy(), 'broke off'],
  ['fails', (source: PassThrough) => source.destroy(new Error('reset')), 'reset'],
])('a message that %s in the middle is no whole one', async (_what, end, why) => {
  const source = message();
  const done = chunksOf(source, async () => {});
  const refused = expect(done).rejects.toThrow(why);
  source.write('half');
  end(source);
  await refused;
});

test('a message that broke off before anybody looked is no whole one either', async () => {
  const source = message();
  source.destroy();
  await turn();
  await expect(chunksOf(source, async () => {})).rejects.toThrow('broke off');
});
