import { setTimeout as sleep } from 'node:timers/promises';
import { ReeveClosed, ReeveError, ReeveUnavailable } from '../errors.ts';
import { requireDuration } from '../validate.ts';

export interface RetryOptions {
  readonly budget: RetryBudget;
  readonly backoff: BackoffSettings;
  readonly deadline: Deadline;
  readonly signal?: AbortSignal | undefined;
  /** What follows a failed attempt. By default, a wait that takes one retry out of the budget. */
  readonly next?: ((error: ReeveUnavailable) => Next) | undefined;
}

/** What follows a failed attempt: another at once, at another gateway, or a wait, which may cost one of the retries. */
export type Next = 'another' | 'wait' | 'wait_and_pay';

/**
 * Tries until there is an answer, the deadline leaves no room, or the retry budget is spent. It retries only
 * `ReeveUnavailable`: every other error is an answer. Attempts count from 1.
 */
export async function retrying<Result>(
  options: RetryOptions,
  attempt: (number: number) => Promise<Result>,
): Promise<Result> {
  const { budget, backoff, deadline, signal, next: nextOf = () => 'wait_and_pay' } = options;
  let cause = '';
  let mayHaveArrived = false;
  let waits = 0;
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
      const next = nextOf(error);
      if (next === 'another') continue;
      const wait = backoffMs(waits++, backoff);
      const isLast = wait >= remainingMs(deadline) || (next === 'wait_and_pay' && !budget.take());
      if (isLast) throw new ReeveUnavailable(cause, mayHaveArrived);
      await pause(wait, signal);
    }
  }
}

/** The deadline has passed. `cause` says what went wrong before. */
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

/** Per-call options. */
export interface CallOptions {
  /** The longest time this call may take, with all its retries. */
  readonly deadlineMs?: number | undefined;
  /** Abandons the call, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** A call within its limits. */
export interface Limits {
  readonly deadline: Deadline;
  readonly signal: AbortSignal | undefined;
}

/** The moment by which the caller needs an answer, on the monotonic clock. */
export interface Deadline {
  readonly totalMs: number;
  readonly at: number;
}

export function deadlineIn(ms: number): Deadline {
  requireDuration('deadlineMs', ms);
  return { totalMs: ms, at: performance.now() + ms };
}

export function remainingMs(deadline: Deadline): number {
  return Math.max(0, deadline.at - performance.now());
}

export interface BackoffSettings {
  readonly initialBackoffMs: number;
  readonly maxBackoffMs: number;
}

/**
 * The wait before a retry (counted from 0): a random time up to a limit that doubles each time. Full jitter spreads
 * agents that failed together.
 */
export function backoffMs(retry: number, settings: BackoffSettings, random: () => number = Math.random): number {
  return random() * Math.min(settings.maxBackoffMs, settings.initialBackoffMs * 2 ** retry);
}

const wholeToken = 1000;

/**
 * The retries that a client may spend: a burst at first, then a share of every answer. However long a gateway is down,
 * retries stay a small part of the traffic. Counts in thousandths, so that ten tenths make one.
 */
export class RetryBudget {
  readonly #most: number;
  readonly #perAnswer: number;
  #left: number;

  constructor(burst: number, ratio: number) {
    this.#most = burst * wholeToken;
    this.#perAnswer = Math.round(ratio * wholeToken);
    this.#left = this.#most;
  }

  /** The gateway has answered a call, with whatever result. */
  answered(): void {
    this.#left = Math.min(this.#most, this.#left + this.#perAnswer);
  }

  /** Takes one retry out of the budget. False if none is left. */
  take(): boolean {
    if (this.#left < wholeToken) return false;
    this.#left -= wholeToken;
    return true;
  }
}
