import { expect, test, vi } from 'vitest';
import { Turn } from '../calls/turn.ts';
import { data, emptySettings, framed, request } from '../testkit/raw-client.ts';
import { testServer } from '../testkit/test-server.ts';
import { TurnOrder } from './turn-order.ts';

const loop = () => new Promise<void>((resolve) => setImmediate(resolve));

test('strangers share a part of each turn of the event loop, in their order, and trusted ones all go on', async () => {
  const order = new TurnOrder();
  const seen: string[] = [];
  const begin = (name: string, isTrusted: boolean) => {
    const turn = new Turn(order, () => undefined);
    if (isTrusted) turn.trust();
    const goOn = () => {
      turn.begin();
      while (!turn.isOver) turn.spend(1);
      seen.push(name);
      turn.queue(goOn);
    };
    turn.queue(goOn);
  };
  for (let n = 0; n < 6; n++) begin(`s${n}`, false);
  for (let n = 0; n < 6; n++) begin(`t${n}`, true);
  const trusted = ['t0', 't1', 't2', 't3', 't4', 't5'];
  await loop();
  expect(seen).toEqual([...trusted, 's0', 's1', 's2', 's3']);
  seen.length = 0;
  await loop();
  expect(seen).toEqual([...trusted, 's4', 's5', 's0', 's1']);
});

test('too many strangers do not wait', () => {
  const order = new TurnOrder();
  const nothing = () => undefined;
  for (let n = 0; n < 2000; n++) expect(order.queue(nothing, false)).toBe(true);
  expect(order.queue(nothing, false)).toBe(false);
  expect(order.queue(nothing, true)).toBe(true);
});

test('the calls of strangers that are gone are ended in portions', async () => {
  let closed = 0;
  const atOnce: number[] = [];
  const handler = () => ({
    message: () => undefined,
    ended: () => undefined,
    closed: () => {
      if (closed === 0) {
        setImmediate(() => {
          atOnce.push(closed);
          closed = 0;
        });
      }
      closed++;
    },
  });
  const { client } = await testServer({ stream: { '/t': handler } });
  const calls = Array.from({ length: 1000 }, (_, n) => request(2 * n + 1, '/t'));
  const here = await Promise.all(Array.from({ length: 6 }, () => client(emptySettings, ...calls)));
  for (const one of here) await one.settled();
  for (const one of here) one.destroy();
  await vi.waitFor(() => expect(atOnce.reduce((sum, count) => sum + count, 0)).toBe(6000), 10_000);
  expect(Math.max(...atOnce)).toBeLessThanOrEqual(256);
});

test('however many strangers call, little is done before others have their turn', async () => {
  let handled = 0;
  const atOnce: number[] = [];
  const { client } = await testServer({
    unary: {
      '/t': (message, call) => {
        if (handled === 0) {
          setImmediate(() => {
            atOnce.push(handled);
            handled = 0;
          });
        }
        handled++;
        call.answer(message);
      },
    },
  });
  const calls = Array.from({ length: 300 }, (_, n) =>
    Buffer.concat([request(2 * n + 1, '/t'), data(2 * n + 1, framed(Buffer.alloc(0)), true)]),
  );
  const here = await Promise.all(Array.from({ length: 20 }, () => client(emptySettings, ...calls)));
  for (const one of here) expect((await one.answer(599)).get('grpc-status')).toBe('0');
  await vi.waitFor(() => expect(atOnce.reduce((sum, count) => sum + count, 0)).toBe(6000));
  expect(Math.max(...atOnce)).toBeLessThanOrEqual(256);
});
