import { setImmediate as turn } from 'node:timers/promises';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AckOutcome } from './ack-queue.ts';
import { AckQueue } from './ack-queue.ts';

const backoff = { initialBackoffMs: 1, maxBackoffMs: 1 };
const rank: Readonly<Record<AckOutcome, number>> = { received: 1, failed: 2, effective: 3 };

/** A gateway that takes acknowledgements, or is out of reach. */
function startQueue(answer: (nth: number) => 'told' | 'later' = () => 'told') {
  const told: string[] = [];
  const asked: string[] = [];
  const queue = new AckQueue(async ({ sequence, outcome, detail }) => {
    const ack = [sequence, outcome, detail].filter((part) => part !== '').join(' ');
    asked.push(ack);
    await turn();
    const result = answer(asked.length);
    if (result === 'told') told.push(ack);
    return result;
  }, backoff);
  return { queue, told, asked };
}

test('of each control the gateway is told first that it was received, then what came of it', async () => {
  const { queue, told } = startQueue();
  void queue.tell(1, 'received');
  void queue.tell(2, 'received');
  await queue.tell(1, 'effective', 'done');
  await queue.flush();
  expect(told).toEqual(['1 received', '2 received', '1 effective done']);
});

test('nothing goes backwards, and what has failed can still come true', async () => {
  const { queue, told } = startQueue();
  await queue.tell(1, 'received');
  await queue.tell(1, 'failed', 'cannot');
  await queue.tell(1, 'received');
  await queue.tell(1, 'effective');
  await queue.tell(1, 'failed', 'too late');
  expect(told).toEqual(['1 received', '1 failed cannot', '1 effective']);
});

test('while the gateway is out of reach nobody waits, and it is told afterwards, the furthest only', async () => {
  let away = true;
  const { queue, told } = startQueue(() => (away ? 'later' : 'told'));
  await queue.tell(1, 'received');
  await queue.tell(1, 'effective');
  await queue.tell(2, 'received');
  expect(told).toEqual([]);
  away = false;
  await expect.poll(() => told, { timeout: 20_000 }).toEqual(['1 effective', '2 received']);
});

test('a control that comes again is answered again, with the furthest it got to', async () => {
  const { queue, told } = startQueue();
  await queue.tell(1, 'received');
  await queue.tell(1, 'effective');
  queue.repeat(1);
  queue.repeat(7);
  await queue.flush();
  expect(told).toEqual(['1 received', '1 effective', '1 effective', '7 received']);
});

test('with nobody to tell it for, it waits without trying until it is woken', async () => {
  const { queue, told, asked } = startQueue();
  queue.rest();
  await queue.tell(1, 'received');
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(asked).toEqual([]);
  queue.wake();
  await queue.flush();
  expect(told).toEqual(['1 received']);
});

test('what is still to be told is never forgotten, however much was told since', async () => {
  let away = true;
  const { queue, told } = startQueue(() => (away ? 'later' : 'told'));
  await queue.tell(1, 'received');
  for (let sequence = 2; sequence <= 10_500; sequence++) void queue.tell(sequence, 'received');
  away = false;
  await queue.flush();
  expect(new Set(told).size).toBe(10_500);
  for (let sequence = 10_501; sequence <= 11_000; sequence++) await queue.tell(sequence, 'received');
  await queue.tell(1, 'effective');
  expect(told.at(-1)).toBe('1 effective');
});

test('whatever is told in whichever order, with whatever losses, the gateway learns the furthest of each in order', async () => {
  const outcome = fc.constantFrom<AckOutcome>('received', 'failed', 'effective');
  const tell = fc.record({ sequence: fc.integer({ min: 1, max: 5 }), outcome });
  const step = fc.oneof({ weight: 6, arbitrary: tell }, { weight: 2, arbitrary: fc.constant('turn' as const) });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.array(fc.boolean()), async (steps, losses) => {
      const heard = new Map<number, AckOutcome[]>();
      const inFlight = new Set<number>();
      let attempt = 0;
      const queue = new AckQueue(async ({ sequence, outcome }) => {
        expect(inFlight).not.toContain(sequence);
        inFlight.add(sequence);
        await turn();
        inFlight.delete(sequence);
        if (losses[attempt++] === true) return 'later';
        heard.set(sequence, [...(heard.get(sequence) ?? []), outcome]);
        return 'told';
      }, backoff);
      const furthest = new Map<number, AckOutcome>();
      for (const step of steps) {
        if (step === 'turn') {
          await turn();
          continue;
        }
        void queue.tell(step.sequence, step.outcome);
        const before = furthest.get(step.sequence);
        if (before === undefined || rank[step.outcome] > rank[before]) furthest.set(step.sequence, step.outcome);
      }
      await expect
        .poll(() => new Map([...heard].map(([sequence, outcomes]) => [sequence, outcomes.at(-1)])), {
          interval: 1,
          timeout: 20_000,
        })
        .toEqual(furthest);
      for (const outcomes of heard.values()) {
        const ranks = outcomes.map((each) => rank[each]);
        expect(ranks).toEqual([...new Set(ranks)].sort((one, other) => one - other));
      }
    }),
    { numRuns: 60 },
  );
});
