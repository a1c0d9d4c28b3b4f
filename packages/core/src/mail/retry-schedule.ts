const firstWaitMs = 5_000;
const longestWaitMs = 15 * 60_000;
const giveUpAfterMs = 24 * 3_600_000;
const jitterShare = 0.2;

export interface FailedDelivery {
  /** How often sending has failed, this time included: at least 1. */
  readonly failures: number;
  /** How long ago the letter was written. */
  readonly ageMs: number;
  /** From 0 to below 1. Shortens the wait by up to a fifth, so that letters that failed together part ways. */
  readonly jitter: number;
}

/**
 * How long a letter waits after a temporary failure: about 5 s at first (the contract wants the first retry within
 * 15 s), twice as long each time, at most a quarter of an hour. Null: it is a day old by then and is given up.
 */
export function retryAfter({ failures, ageMs, jitter }: FailedDelivery): number | null {
  const backoff = Math.min(firstWaitMs * 2 ** (failures - 1), longestWaitMs);
  const wait = Math.round(backoff * (1 - jitterShare * jitter));
  return ageMs + wait > giveUpAfterMs ? null : wait;
}
