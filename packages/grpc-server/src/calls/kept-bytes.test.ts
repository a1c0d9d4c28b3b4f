import * as fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import type { StreamHandler } from '../handlers.ts';
import { data, emptySettings, framed, request } from '../testkit/raw-client.ts';
import { testServer } from '../testkit/test-server.ts';
import { KeptBytes } from './kept-bytes.ts';

test('what is kept is read in order, and takes memory in proportion', () => {
  const steps = fc.array(fc.record({ add: fc.uint8Array({ maxLength: 700 }), drop: fc.nat(900) }), { maxLength: 40 });
  fc.assert(
    fc.property(steps, (all) => {
      const kept = new KeptBytes();
      let expected = Buffer.alloc(0);
      for (const { add, drop } of all) {
        kept.add(Buffer.from(add), 0, add.length);
        expected = Buffer.concat([expected, add]);
        kept.drop(kept.start + drop);
        expected = expected.subarray(drop);
        expect(kept.bytes.subarray(kept.start, kept.end).equals(expected)).toBe(true);
        expect(kept.bytes.length).toBeLessThanOrEqual(Math.max(8 * expected.length, 256));
      }
    }),
  );
});

test('tiny pieces are not kept one by one', () => {
  const allocated = vi.spyOn(Buffer, 'allocUnsafeSlow');
  const kept = new KeptBytes();
  for (let n = 0; n < 60_000; n++) kept.add(Buffer.of(1), 0, 1);
  expect(allocated.mock.calls.length).toBeLessThan(20);
  expect(kept.bytes.length).toBeLessThanOrEqual(2 * 60_000);
  allocated.mockRestore();
});

test('a stream that pauses after each message copies what it keeps a few times at most', async () => {
  const count = 2000;
  let messages = 0;
  const handler: StreamHandler = (stream) => {
    stream.pause();
    return {
      message: () => {
        messages++;
        stream.pause();
        setImmediate(() => stream.resume());
      },
      ended: () => stream.end(),
      closed: () => undefined,
      drained: () => undefined,
    };
  };
  const resumes: (() => void)[] = [];
  const { client } = await testServer({
    stream: {
      '/t/Slow': (stream) => {
        resumes.push(() => stream.resume());
        return handler(stream);
      },
    },
  });
  const here = await client(emptySettings, request(1, '/t/Slow'));
  const message = framed(Buffer.alloc(20));
  for (let n = 0; n < count; n++) here.write(data(1, message));
  here.write(data(1, Buffer.alloc(0), true));
  await here.settled();
  const copied = vi.spyOn(Buffer, 'allocUnsafeSlow');
  for (const resume of resumes) resume();
  expect((await here.answer(1)).get('grpc-status')).toBe('0');
  const bytes = copied.mock.calls.reduce((sum, [size]) => sum + size, 0);
  copied.mockRestore();
  expect(messages).toBe(count);
  expect(bytes).toBeLessThan(4 * count * message.length + 256 * 1024);
});
