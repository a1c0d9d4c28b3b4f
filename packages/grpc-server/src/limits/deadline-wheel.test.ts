import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Timed } from './deadline-wheel.ts';
import { DeadlineWheel } from './deadline-wheel.ts';
import { afterwards } from '../testkit/test-server.ts';

function timed(inMs: number, expired: (call: Timed) => void): Timed {
  const call: Timed = {
    deadline: performance.now() + inMs,
    previousTimed: undefined,
    nextTimed: undefined,
    timedSlot: 0,
    expire: () => expired(call),
  };
  return call;
}

function wheelHere(): DeadlineWheel {
  const wheel = new DeadlineWheel();
  afterwards(() => wheel.stop());
  return wheel;
}

test('calls expire after their deadlines, and never before', async () => {
  const wheel = wheelHere();
  const late: number[] = [];
  const all = Array.from({ length: 200 }, (_, n) =>
    timed(n, (call) => {
      wheel.remove(call);
      late.push(performance.now() - (call.deadline ?? 0));
    }),
  );
  for (const call of all) wheel.add(call);
  await vi.waitFor(() => expect(late).toHaveLength(200), 10_000);
  expect(Math.min(...late)).toBeGreaterThanOrEqual(0);
});

test('calls that ended do not expire, whichever of a slot they were', async () => {
  const wheel = wheelHere();
  const expired: Timed[] = [];
  const note = (call: Timed) => {
    wheel.remove(call);
    expired.push(call);
  };
  const all = Array.from({ length: 30 }, () => timed(50, note));
  for (const call of all) wheel.add(call);
  const kept = all.filter((_, n) => n % 3 === 1);
  for (const call of all) if (!kept.includes(call)) wheel.remove(call);
  await vi.waitFor(() => expect(expired).toHaveLength(kept.length), 10_000);
  expect(new Set(expired)).toEqual(new Set(kept));
});

test('a deadline of a later turn of the wheel waits for that turn', async () => {
  const wheel = wheelHere();
  const expired: string[] = [];
  const turnMs = 512 * 20;
  wheel.add(timed(40 + turnMs, () => expired.push('next turn')));
  const soon = timed(40, () => {
    wheel.remove(soon);
    expired.push('this turn');
  });
  wheel.add(soon);
  await vi.waitFor(() => expect(expired).toEqual(['this turn']), 10_000);
});

test('others have their turn while many calls expire at once', async () => {
  const wheel = wheelHere();
  const counts: number[] = [];
  let expired = 0;
  const note = (call: Timed) => {
    wheel.remove(call);
    if (expired === 0) {
      setImmediate(() => {
        counts.push(expired);
        expired = 0;
      });
    }
    expired++;
  };
  for (let n = 0; n < 1000; n++) wheel.add(timed(30, note));
  await vi.waitFor(() => expect(counts.reduce((sum, count) => sum + count, 0)).toBe(1000), 10_000);
  expect(Math.max(...counts)).toBeLessThanOrEqual(128);
});

describe('on a clock of the test', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] }));
  afterEach(() => void vi.useRealTimers());

  test('a deadline that has passed expires at the next tick, also when it is added within one', () => {
    const wheel = new DeadlineWheel();
    const expired: string[] = [];
    vi.advanceTimersByTime(1000);
    const add = (inMs: number, name: string, then?: () => void) =>
      wheel.add(
        timed(inMs, (call) => {
          wheel.remove(call);
          expired.push(name);
          then?.();
        }),
      );
    add(-500, 'past', () => add(0, 'within'));
    add(30, 'coming');
    vi.advanceTimersByTime(100);
    wheel.stop();
    expect(expired.toSorted()).toEqual(['coming', 'past', 'within']);
  });
});
