import { setTimeout as sleep } from 'node:timers/promises';
import type { Accounts, Mailer } from '@reeve/core';
import { deliverMail, keepAccounts } from '@reeve/core';
import type { Logger } from '../telemetry/logger.ts';
import { Rounds } from './rounds.ts';

const mailEveryMs = 1000;
const keepEveryMs = 60_000;
/** The most that stopping waits for letters. */
const letterMs = 5_000;

export interface AccountWork {
  readonly mailer: Mailer;
  readonly publicUrl: string;
  /** How long stopping waits for letters in flight. */
  readonly drainMs: number;
  readonly logger: Logger;
}

/** The background work of accounts: it sends letters and forgets what has expired. */
export function startAccountWork(
  accounts: Accounts,
  { mailer, publicUrl, drainMs, logger }: AccountWork,
): () => Promise<void> {
  const delivery = {
    accounts,
    mailer,
    publicUrl,
    jitter: Math.random,
    onFailure: (failure: object) => logger.warn(failure, 'a letter could not be sent'),
  };
  const rounds = new Rounds((error) => logger.error({ err: error }, 'work on accounts failed; it is tried again'));
  rounds.every(
    mailEveryMs,
    rounds.of(() => deliverMail(delivery)),
  );
  rounds.every(
    keepEveryMs,
    rounds.of(() => keepAccounts(accounts)),
  );
  // A relay may take minutes. The letter stays in the queue until it is known to be sent.
  return () => Promise.race([rounds.stop(), sleep(Math.min(drainMs, letterMs), undefined, { ref: false })]);
}
