import { expect, test, vi } from 'vitest';
import type { ServerStream } from '../handlers.ts';
import { flag, frameType, settingId } from '../http2/frame.ts';
import { settingsFrame } from '../http2/settings.ts';
import { data, emptySettings, frame, framed, request, word } from '../testkit/raw-client.ts';
import { testServer } from '../testkit/test-server.ts';
import { TurnOrder } from '../limits/turn-order.ts';
import { Turn } from './turn.ts';

const hello = framed(Buffer.from('hello'));
const empty = Buffer.alloc(5);

test('what waits for a turn goes on in order, as far as each turn lasts', () => {
  const woken = vi.fn();
  const turn = new Turn(new TurnOrder(), woken);
  const done: number[] = [];
  for (let n = 0; n < 5; n++) {
    turn.postpone(() => {
      turn.spend(30);
      done.push(n);
    });
  }
  expect(woken).toHaveBeenCalledTimes(5);
  turn.begin();
  // Half of it is left for what comes.
  expect(done).toEqual([0, 1]);
  expect(turn.isOver).toBe(false);
  expect(woken).toHaveBeenCalledTimes(6);
  turn.begin();
  turn.begin();
  expect(done).toEqual([0, 1, 2, 3, 4]);
  expect(turn.hasPostponed).toBe(false);
  expect(turn.isOver).toBe(false);
});

test('a trusted connection may do more in a turn, and one that is stopped does nothing more', () => {
  const turn = new Turn(new TurnOrder(), () => undefined);
  turn.spend(64);
  expect(turn.isOver).toBe(true);
  turn.trust();
  expect(turn.isOver).toBe(false);
  const goOn = vi.fn();
  turn.postpone(goOn);
  turn.stop();
  turn.begin();
  expect(goOn).not.toHaveBeenCalled();
});

test('a turn is over after so much work, and after so many bytes', () => {
  const order = new TurnOrder(() => 0);
  const first = new Turn(order, () => undefined);
  for (let n = 0; n < 64; n++) first.spend(1);
  expect(first.isOver).toBe(true);
  const long = new Turn(order, () => undefined);
  long.enter(2 * 64 * 1024, 0);
  expect(long.isOver).toBe(true);
  long.leave();
});

/** Counts messages, one number for each stretch in which nobody else had a turn. */
class Stretches {
  readonly counts: number[] = [];
  all = 0;
  #count = 0;

  count(): void {
    if (this.#count === 0) {
      setImmediate(() => {
        this.counts.push(this.#count);
        this.#count = 0;
      });
    }
    this.#count++;
    this.all++;
  }
}

function counted(stretches: Stretches, answer: (stream: ServerStream) => void) {
  return (stream: ServerStream) => ({
    message: () => {
      stretches.count();
      answer(stream);
    },
    ended: () => stream.end(),
    closed: () => undefined,
  });
}

test('messages of a stream count as work, also within one frame', async () => {
  const stretches = new Stretches();
  const { client } = await testServer({ stream: { '/t': counted(stretches, () => undefined) } });
  const here = await client(emptySettings, request(1, '/t'));
  for (let n = 0; n < 3; n++) here.write(data(1, Buffer.alloc(16_000)));
  here.write(data(1, empty, true));
  expect((await here.answer(1)).get('grpc-status')).toBe('0');
  expect(stretches.all).toBe(9601);
  await vi.waitFor(() => expect(stretches.counts.reduce((sum, count) => sum + count, 0)).toBe(9601));
  expect(Math.max(...stretches.counts)).toBeLessThanOrEqual(64);
});

test('what streams kept while their answers were not read goes on in portions, over all streams together', async () => {
  const stretches = new Stretches();
  const { client } = await testServer({
    stream: { '/t': counted(stretches, (stream) => void stream.send(Buffer.alloc(0))) },
  });
  const here = await client(settingsFrame([[settingId.initialWindowSize, 0]]));
  const ids = Array.from({ length: 20 }, (_, n) => 2 * n + 1);
  for (const id of ids) here.write(request(id, '/t'), data(id, Buffer.alloc(5 * 500)), data(id, empty, true));
  await here.settled();
  expect(stretches.all).toBe(20);
  here.write(
    frame(frameType.windowUpdate, 0, 0, word(1 << 30)),
    settingsFrame([[settingId.initialWindowSize, 1 << 30]]),
  );
  for (const id of ids) expect((await here.answer(id)).get('grpc-status')).toBe('0');
  expect(stretches.all).toBe(20 * 501);
  for (const id of ids) expect(here.content(id).length).toBe(501 * 5);
  await vi.waitFor(() => expect(stretches.counts.reduce((sum, count) => sum + count, 0)).toBe(20 * 501));
  expect(Math.max(...stretches.counts)).toBeLessThanOrEqual(64);
});

test('a stream that is reset while it waits for its turn is over', async () => {
  const stretches = new Stretches();
  const { client, events } = await testServer({
    stream: {
      '/t': (stream) => ({
        ...counted(stretches, () => void stream.send(Buffer.alloc(0)))(stream),
        closed: () => events.push('closed'),
      }),
    },
  });
  const here = await client(settingsFrame([[settingId.initialWindowSize, 0]]));
  here.write(request(1, '/t'), data(1, Buffer.alloc(5 * 3000)));
  await here.settled();
  here.write(
    settingsFrame([[settingId.initialWindowSize, 1 << 30]]),
    frame(frameType.rstStream, 0, 1, word(8)),
    request(3),
    data(3, hello, true),
  );
  expect((await here.answer(3)).get('grpc-status')).toBe('0');
  expect(events).toEqual(['closed']);
  expect(stretches.all).toBeLessThan(3000);
});

test('content-length is held against the whole body, in however many turns it is read', async () => {
  const stretches = new Stretches();
  const { client } = await testServer({ stream: { '/t': counted(stretches, () => undefined) } });
  const here = await client(emptySettings);
  const body = Buffer.alloc(15_000);
  here.write(request(1, '/t', ['content-length', '15000']), data(1, body, true));
  here.write(request(3, '/t', ['content-length', '14999']), frame(frameType.data, flag.endStream, 3, body));
  expect((await here.answer(1)).get('grpc-status')).toBe('0');
  expect(await here.reset(3)).toBe(1);
});
