/** A letter to one person, ready to send. Its parts hold a secret link: never log them. */
export interface Letter {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export interface Mailer {
  /** Hands the letter to the relay. Throws a `MailError` on failure. */
  send(letter: Letter): Promise<void>;
  /** Whether letters leave this gateway. If false, it only notes them in the log. */
  readonly delivers: boolean;
}

/** A failed delivery. The message is safe to log: it holds nothing from the letter and no password. */
export class MailError extends Error {
  /** Whether the relay may take the same letter later. */
  readonly temporary: boolean;

  constructor(message: string, temporary: boolean) {
    super(message);
    this.name = 'MailError';
    this.temporary = temporary;
  }
}

const firstWaitMs = 5_000;
const longestWaitMs = 15 * 60_000;
const giveUpAfterMs = 24 * 3_600_000;
const jitterShare = 0.2;

export interface FailedDelivery {
  /** How often sending has failed, including this time: at least 1. */
  readonly failures: number;
  /** How long ago the letter was written. */
  readonly ageMs: number;
  /** From 0 to below 1. Shortens the wait by up to a fifth, to spread letters that failed together. */
  readonly jitter: number;
}

/**
 * The backoff after a temporary failure: about 5 s at first (the contract wants the first retry within 15 s), twice as
 * long each time, at most a quarter of an hour. Null: the letter would be over a day old by then and is dropped.
 */
export function retryAfter({ failures, ageMs, jitter }: FailedDelivery): number | null {
  const backoff = Math.min(firstWaitMs * 2 ** (failures - 1), longestWaitMs);
  const wait = Math.round(backoff * (1 - jitterShare * jitter));
  return ageMs + wait > giveUpAfterMs ? null : wait;
}
