import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { SharedRoom } from '../limits/shared-room.ts';
import { Outbox } from '../http2/outbox.ts';
import type { Sending } from './sender.ts';
import { Sender } from './sender.ts';
import { TurnQueue } from './turn-queue.ts';

/** A socket that takes all there is. */
class Sink extends Socket {
  override _write(_chunk: unknown, _encoding: string, done: () => void): void {
    done();
  }
}

/** A call that counts how often its messages are looked at. */
class Call implements Sending {
  readonly id: number;
  sendWindow: number;
  hasSentHead = true;
  readonly headFields = undefined;
  unsentAt = 0;
  lastBlock: Buffer | undefined;
  isQueued = false;
  looks = 0;
  #unsent: Uint8Array[] | undefined;

  constructor(id: number, sendWindow: number) {
    this.id = id;
    this.sendWindow = sendWindow;
  }

  get unsent(): Uint8Array[] | undefined {
    this.looks++;
    return this.#unsent;
  }

  set unsent(unsent: Uint8Array[] | undefined) {
    this.#unsent = unsent;
  }

  sentLast(): void {}
  stalled(): void {}
  drained(): void {}
}

function waitingCalls(sender: Sender, sendWindow: number): Call[] {
  return Array.from({ length: 1000 }, (_, n) => {
    const call = new Call(2 * n + 1, sendWindow);
    sender.message(call, Buffer.alloc(100));
    call.looks = 0;
    return call;
  });
}

const looksAt = (calls: readonly Call[]) => calls.reduce((sum, { looks }) => sum + looks, 0);

function senderWith(window: number): Sender {
  const sender = new Sender(
    new Outbox(new Sink(), () => undefined),
    () => undefined,
    new SharedRoom({ ofStrangers: 1 << 30, ofAccount: 0 }).join(() => undefined),
  );
  sender.window = window;
  return sender;
}

test('a byte more for the connection looks at one call, however many wait, and each has its turn', () => {
  const sender = senderWith(0);
  const calls = waitingCalls(sender, 1000);
  for (let n = 0; n < 1000; n++) sender.widenAll(1);
  expect(looksAt(calls)).toBeLessThan(10_000);
  expect(calls.map(({ unsentAt }) => unsentAt)).toEqual(calls.map(() => 1));
});

test('calls without a window of their own are not looked at until they have one', () => {
  const sender = senderWith(1_000_000);
  const calls = waitingCalls(sender, 0);
  for (let n = 0; n < 1000; n++) sender.widenAll(1);
  expect(looksAt(calls)).toBe(0);
  for (const call of calls) sender.widen(call, 105);
  expect(sender.keptBytes).toBe(0);
});

test('those who leave are not kept', () => {
  const queue = new TurnQueue<{ isQueued: boolean; isHere: boolean }>(({ isHere }) => isHere);
  const all = Array.from({ length: 100 }, () => ({ isQueued: false, isHere: true }));
  for (const one of all) queue.add(one);
  for (const one of all.slice(0, 90)) {
    one.isHere = false;
    queue.leave(one);
  }
  let taken = 0;
  for (; !queue.isEmpty; taken++) queue.next();
  expect(taken).toBeLessThan(60);
  expect(all.some(({ isQueued }) => isQueued)).toBe(false);
});
