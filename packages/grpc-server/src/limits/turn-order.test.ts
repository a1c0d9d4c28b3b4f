import { expect, test, vi } from 'vitest';
import { Turn } from '../calls/turn.ts';
import { data, emptySettings, framed, request } from '../testkit/raw-client.ts';
import { testServer } from '../testkit/test-server.ts';
import { TurnOrder } from './turn-order.ts';

const loop = () => new Promise<void>((resolve) => setImmediate(resolve));

test('strangers share a part of each turn of the event loop, in their order, and trusted ones all go on', async () => {
  const order = new TurnOrder(() => 0);
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

/** Connections that always have more to do, on a clock that goes on with their work alone. */
class Crowd {
  readonly seen: string[] = [];
  #now = 0;
  readonly order = new TurnOrder(() => this.#now);

  /** It does as much as it may in each of its turns, or `most`. */
  add(name: string, kind: 'trusted' | 'stranger', msPerWork: number, most = Number.POSITIVE_INFINITY): void {
    const turn = new Turn(this.order, () => undefined);
    if (kind === 'trusted') turn.trust();
    const goOn = () => {
      turn.begin();
      turn.enter(0, this.#now);
      let done = 0;
      while (!turn.isOver && done++ < most) {
        this.#now += msPerWork;
        turn.spend(1);
      }
      turn.leave();
      if (done > 0) this.seen.push(name);
      turn.queue(goOn);
    };
    turn.queue(goOn);
  }

  /** Who has done something in the next turn of the event loop, and how long it took. */
  async turn(): Promise<{ readonly names: readonly string[]; readonly ms: number }> {
    const before = this.#now;
    this.seen.length = 0;
    await loop();
    return { names: [...this.seen], ms: this.#now - before };
  }
}

test('dear work of strangers ends their turn by its time', async () => {
  const crowd = new Crowd();
  for (let n = 0; n < 100; n++) crowd.add(`s${n}`, 'stranger', 0.05);
  const names: string[] = [];
  for (let n = 0; n < 100; n++) {
    const turn = await crowd.turn();
    expect(turn.ms).toBeLessThan(1.5);
    names.push(...turn.names);
  }
  // Each had its turn before any had two.
  expect(names.slice(0, 100)).toEqual(Array.from({ length: 100 }, (_, n) => `s${n}`));
});

test('who does little goes before those who do much, and hostile strangers take their share of a turn alone', async () => {
  const crowd = new Crowd();
  for (let n = 0; n < 20; n++) crowd.add(`busy${n}`, 'trusted', 0.04);
  for (let n = 0; n < 50; n++) crowd.add(`hostile${n}`, 'stranger', 0.04);
  for (let n = 0; n < 3; n++) await crowd.turn();
  crowd.add('quiet', 'trusted', 0.04, 8);
  await crowd.turn();
  const { names } = await crowd.turn();
  expect(names[0]).toBe('quiet');
  const isBusy = (name: string) => name.startsWith('busy');
  expect(names.filter(isBusy)).toHaveLength(20);
  expect(names.filter((name) => name.startsWith('hostile'))).toHaveLength(1);
});

test('connections that come at once are taken over several turns, in their order', async () => {
  const order = new TurnOrder(() => 0);
  const taken: number[] = [];
  for (let n = 0; n < 40; n++) order.arrive(() => taken.push(n));
  const counts = [taken.length];
  for (let n = 0; n < 2; n++) {
    await loop();
    counts.push(taken.length);
  }
  expect(counts).toEqual([16, 32, 40]);
  expect(taken).toEqual(Array.from({ length: 40 }, (_, n) => n));
});

test('too many strangers do not wait', () => {
  const order = new TurnOrder();
  const nothing = () => undefined;
  for (let n = 0; n < 2000; n++) expect(order.queue(nothing, 'stranger')).toBe(true);
  expect(order.queue(nothing, 'stranger')).toBe(false);
  expect(order.queue(nothing, 'busy')).toBe(true);
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
