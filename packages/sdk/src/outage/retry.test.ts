import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { ReeveInternal, ReeveInvalidRequest, ReeveUnavailable } from '../errors.ts';
import { backoffMs, deadlineIn, RetryBudget, retrying } from './retry.ts';

const backoff = { initialBackoffMs: 0.001, maxBackoffMs: 0.001 };

function options(budget: RetryBudget, deadlineMs = 30_000) {
  return { budget, backoff, deadline: deadlineIn(deadlineMs) };
}

test('of many calls to a failing gateway, attempts never pass calls plus burst plus share of the answers', async () => {
  const failuresOfCalls = fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(failuresOfCalls, fc.integer({ min: 0, max: 5 }), async (failures, burst) => {
      const budget = new RetryBudget(burst, 0.1);
      let attempts = 0;
      let answers = 0;
      for (const fails of failures) {
        const call = retrying(options(budget), async (number) => {
          attempts++;
          if (number <= fails) throw new ReeveUnavailable('down');
          answers++;
          return number;
        });
        const outcome = await call.catch((error: unknown) => error);
        if (typeof outcome === 'number') expect(outcome).toBe(fails + 1);
        else expect(outcome).toBeInstanceOf(ReeveUnavailable);
      }
      expect(attempts).toBeLessThanOrEqual(failures.length + burst + answers * 0.1);
    }),
    { numRuns: 50 },
  );
});

test('an answer that says no is not asked for again, and earns as any answer does', async () => {
  const budget = new RetryBudget(1, 1);
  budget.take();
  let attempts = 0;
  const call = retrying(options(budget), async () => {
    attempts++;
    throw new ReeveInvalidRequest('tool: must not be empty');
  });
  await expect(call).rejects.toBeInstanceOf(ReeveInvalidRequest);
  expect(attempts).toBe(1);
  expect(budget.take()).toBe(true);
});

test('a failure of the gateway itself is not repeated', async () => {
  let attempts = 0;
  const call = retrying(options(new RetryBudget(10, 0.1)), async () => {
    attempts++;
    throw new ReeveInternal('broken');
  });
  await expect(call).rejects.toBeInstanceOf(ReeveInternal);
  expect(attempts).toBe(1);
});

test('no retry begins that could not end before the deadline', async () => {
  let attempts = 0;
  const slow = { ...options(new RetryBudget(10, 0.1)), backoff: { initialBackoffMs: 1e12, maxBackoffMs: 1e12 } };
  const call = retrying(slow, async () => {
    attempts++;
    throw new ReeveUnavailable('down');
  });
  await expect(call).rejects.toThrow('down');
  expect(attempts).toBe(1);
});

test('once the deadline has passed, the error says so and why', async () => {
  const call = retrying(options(new RetryBudget(10, 0.1), 300), async (number) => {
    if (number > 1) await new Promise((resolve) => setTimeout(resolve, 400));
    throw new ReeveUnavailable(number === 1 ? 'refused' : 'too late', false);
  });
  const error = await call.catch((caught: unknown) => caught);
  expect(error).toMatchObject({ message: 'no answer within 300 ms (refused)', mayHaveArrived: false });
});

test('one attempt that may have arrived is enough for the whole call', async () => {
  const call = retrying(options(new RetryBudget(1, 0.1)), async (number) => {
    throw new ReeveUnavailable('down', number === 1);
  });
  await expect(call).rejects.toMatchObject({ mayHaveArrived: true });
});

test('another gateway is tried at once and at no price, and the waits begin after that', async () => {
  const budget = new RetryBudget(1, 0);
  const next = ['another', 'another', 'wait', 'wait', 'wait_and_pay', 'wait_and_pay'] as const;
  let attempts = 0;
  const call = retrying({ ...options(budget), next: () => next[attempts - 1] ?? 'another' }, async () => {
    attempts++;
    throw new ReeveUnavailable('down');
  });
  await expect(call).rejects.toThrow('down');
  expect(attempts).toBe(6);
  expect(budget.take()).toBe(false);
});

test('not even another gateway is tried after the deadline', async () => {
  let attempts = 0;
  const call = retrying({ ...options(new RetryBudget(1, 0), 50), next: () => 'another' }, async () => {
    attempts++;
    await new Promise((resolve) => setTimeout(resolve, 60));
    throw new ReeveUnavailable('down');
  });
  await expect(call).rejects.toThrow('no answer within 50 ms');
  expect(attempts).toBe(1);
});

test('giving up while waiting for a retry rejects with the reason', async () => {
  const controller = new AbortController();
  const reason = new Error('changed my mind');
  const waiting = { ...options(new RetryBudget(1, 0.1)), signal: controller.signal };
  const long = { ...waiting, backoff: { initialBackoffMs: 20_000, maxBackoffMs: 20_000 } };
  const call = retrying(long, async () => {
    setTimeout(() => controller.abort(reason), 1);
    throw new ReeveUnavailable('down');
  });
  await expect(call).rejects.toBe(reason);
});

const settings = fc.record({
  initialBackoffMs: fc.double({ min: 0.1, max: 10_000, noNaN: true }),
  maxBackoffMs: fc.double({ min: 0.1, max: 100_000, noNaN: true }),
});
const fraction = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

test('the wait is anything from nothing to a limit that doubles up to its maximum', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 5000 }), settings, fraction, (retry, given, random) => {
      const wait = backoffMs(retry, given, () => random);
      const limit = Math.min(given.maxBackoffMs, given.initialBackoffMs * 2 ** retry);
      expect(wait).toBe(random * limit);
      expect(Number.isFinite(wait)).toBe(true);
      expect(wait).toBeLessThanOrEqual(given.maxBackoffMs);
    }),
  );
});

test('however calls and failures mix, retries stay within the burst and the share', () => {
  const events = fc.array(fc.boolean(), { maxLength: 2000 });
  const burst = fc.integer({ min: 0, max: 20 });
  const perMille = fc.integer({ min: 0, max: 1000 });
  fc.assert(
    fc.property(events, burst, perMille, (answeredOrFailed, most, share) => {
      const budget = new RetryBudget(most, share / 1000);
      let retries = 0;
      let answers = 0;
      for (const answered of answeredOrFailed) {
        if (answered) {
          answers++;
          budget.answered();
        } else if (budget.take()) retries++;
        expect(retries * 1000).toBeLessThanOrEqual(most * 1000 + answers * share);
      }
    }),
  );
});

test('ten answers earn one retry, no sooner', () => {
  const budget = new RetryBudget(1, 0.1);
  expect(budget.take()).toBe(true);
  for (let i = 0; i < 9; i++) budget.answered();
  expect(budget.take()).toBe(false);
  budget.answered();
  expect(budget.take()).toBe(true);
});

test('a long good time earns no more than the burst', () => {
  const budget = new RetryBudget(3, 0.1);
  for (let i = 0; i < 1000; i++) budget.answered();
  expect([budget.take(), budget.take(), budget.take(), budget.take()]).toEqual([true, true, true, false]);
});
