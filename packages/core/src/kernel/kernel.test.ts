import { describe, expect, test } from 'vitest';
import { rememberingTimestamp, timestamp } from './clock.ts';
import { messageOf } from './errors.ts';
import type { DomainEvent } from '../store.ts';
import { EventBus } from '../journal/event-bus.ts';
import { equalInConstantTime } from './ports.ts';

describe('timestamps', () => {
  test('are RFC 3339 in UTC with milliseconds', () => {
    expect(timestamp(0)).toBe('1970-01-01T00:00:00.000Z');
    expect(timestamp(1_234_567_890_123)).toBe('2009-02-13T23:31:30.123Z');
  });

  test('are the same where the last one is remembered, in whatever order they are asked', () => {
    const remembering = rememberingTimestamp();
    for (const at of [5, 5, 4, 5, 0, 0, 1_700_000_000_000, 5]) expect(remembering(at)).toBe(timestamp(at));
  });
});

describe('the event bus', () => {
  const event: DomainEvent = { type: 'policy', at: 0, version: 'v', error: null, document: null };

  test('hands every subscriber the events of a turn, in order, until it leaves', () => {
    const seen: string[] = [];
    const bus = new EventBus(() => undefined);
    const leave = bus.subscribe((events) => seen.push(`first ${events.length}`));
    bus.subscribe((events) => seen.push(`second ${events.length}`));
    bus.publish([event, event]);
    leave();
    bus.publish([event]);
    expect(seen).toEqual(['first 2', 'second 2', 'second 1']);
  });

  test('keeps one that throws from keeping the others from theirs', () => {
    const errors: unknown[] = [];
    const seen: number[] = [];
    const bus = new EventBus((error) => errors.push(error));
    bus.subscribe(() => {
      throw new Error('broken view');
    });
    bus.subscribe((events) => seen.push(events.length));
    bus.publish([event]);
    expect(seen).toEqual([1]);
    expect(errors).toEqual([new Error('broken view')]);
  });

  test('says nothing of a turn without events', () => {
    const bus = new EventBus(() => undefined);
    let called = false;
    bus.subscribe(() => {
      called = true;
    });
    bus.publish([]);
    expect(called).toBe(false);
  });
});

test('texts are compared whole', () => {
  expect(equalInConstantTime('abc', 'abc')).toBe(true);
  for (const other of ['', 'ab', 'abcd', 'xbc', 'axc', 'abx']) expect(equalInConstantTime('abc', other)).toBe(false);
  expect(equalInConstantTime('', '')).toBe(true);
});

test('a thrown value that is no error is described all the same', () => {
  expect(messageOf(new Error('x'))).toBe('x');
  expect(messageOf({ code: 1 })).toBe('{"code":1}');
});
