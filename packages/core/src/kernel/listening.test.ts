import { expect, test } from 'vitest';
import { ManualClock } from '../testkit/manual-clock.ts';
import { Listening } from './listening.ts';

test('a gateway listens since its start, or since the end of the last gap', () => {
  const clock = new ManualClock();
  const start = clock.elapsed();
  const listening = new Listening(clock);
  for (let look = 0; look < 20; look++) {
    clock.advance(250);
    expect(listening.since).toBe(start);
  }
  clock.advance(60_000);
  const woken = clock.elapsed();
  expect(listening.since).toBe(woken);
  clock.advance(250);
  expect(listening.since).toBe(woken);
});

test('it does not listen while others cannot reach it', () => {
  const clock = new ManualClock();
  let isReached = true;
  const listening = new Listening(clock, () => isReached);
  const look = () => {
    clock.advance(250);
    return listening.since;
  };
  const start = listening.since;
  expect(look()).toBe(start);
  isReached = false;
  expect(look()).toBe(clock.elapsed());
  isReached = true;
  const reached = clock.elapsed();
  expect(look()).toBe(reached);
});
