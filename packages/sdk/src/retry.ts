import { setTimeout as sleep } from 'node:timers/promises';
import type { BackoffSettings } from './backoff.ts';
import { backoffMs } from './backoff.ts';
import type { Deadline } from './deadline.ts';
import { remainingMs } from './deadline.ts';
import { ReeveClosed, ReeveError, ReeveUnavailable } from './errors.ts';
import type { RetryBudget } from './retry-budget.ts';

export interface RetryOptions {
  readonly budget: RetryBudget;
  readonly backoff: BackoffSettings;
  readonly deadline: Deadline;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Tries until there is an answer, the deadline leaves no room, or the budget is spent. Only `ReeveUnavailable` is tried
 * again: every other error is an answer. Attempts are counted from 1.
 */
export async function retrying<Result>(
  options: RetryOptions,
  attempt: (number: number) => Promise<Result>,
): Promise<Result> {
  const { budget, backoff, deadline, signal } = options;
  let cause = '';
  let mayHaveArrived = false;
  for (let number = 1; ; number++) {
    try {
      const result = await attempt(number);
      budget.answered();
      return result;
    } catch (error) {
      if (!(error instanceof ReeveUnavailable)) {
        if (error instanceof ReeveError && !(error instanceof ReeveClosed)) budget.answered();
        throw error;
      }
      mayHaveArrived ||= error.mayHaveArrived;
      if (remainingMs(deadline) === 0) throw overdue(deadline, cause, mayHaveArrived);
      cause = error.message;
      const wait = backoffMs(number - 1, backoff);
      if (wait >= remainingMs(deadline) || !budget.take()) throw new ReeveUnavailable(cause, mayHaveArrived);
      await pause(wait, signal);
    }
  }
}

/** The deadline has passed; `cause` is what went wrong before. */
export function overdue(deadline: Deadline, cause: string, mayHaveArrived: boolean): ReeveUnavailable {
  const before = cause === '' ? '' : ` (${cause})`;
  return new ReeveUnavailable(`no answer within ${deadline.totalMs} ms${before}`, mayHaveArrived);
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(ms, undefined, signal === undefined ? {} : { signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}
