import { setTimeout as sleep } from 'node:timers/promises';
import type { Accounts, Mailer } from '@reeve/core';
import { deliverMail, keepAccounts } from '@reeve/core';
import type { Logger } from '../telemetry/logger.ts';
import { Rounds } from './rounds.ts';

const mailEveryMs = 1000;
const keepEveryMs = 60_000;
/** How long stopping waits for letters at most. */
const letterMs = 5_000;

export interface AccountWork {
  readonly mailer: Mailer;
  readonly publicUrl: string;
  /** How long stopping waits for letters that are being sent. */
  readonly drainMs: number;
  readonly logger: Logger;
}

/** What is done about accounts aside from calls: letters are sent, and what is over is forgotten. */
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
  // A relay may take minutes. The letter stays in the queue until it is known to have been sent.
  return () => Promise.race([rounds.stop(), sleep(Math.min(drainMs, letterMs), undefined, { ref: false })]);
}
