import { setTimeout as sleep } from 'node:timers/promises';
import type { Access, Accounts, AccountStore, Mailer, PasswordHasher } from '@reeve/core';
import { deliverMail, keepAccounts } from '@reeve/core';
import type { Config } from '../config/settings.ts';
import { Rounds } from './rounds.ts';
import type { Logger } from '../telemetry/logger.ts';

export interface PeoplePorts {
  readonly access: Access;
  readonly store: AccountStore;
  readonly hasher: PasswordHasher;
  readonly onSessionEnd: (accountId: string) => void;
}

/** The accounts, as the configuration has them. */
export function accountsOf(config: Config, ports: PeoplePorts): Accounts {
  return {
    ...ports,
    settings: {
      accessTokenTtlMs: config.accessTokenTtlSecs * 1000,
      refreshTtlMs: config.refreshTtlSecs * 1000,
      refreshTtlRememberMs: config.refreshTtlRememberSecs * 1000,
      inviteTtlMs: config.inviteTtlSecs * 1000,
      resetTtlMs: config.resetTtlSecs * 1000,
      lockoutAttempts: config.lockoutAttempts,
      lockoutMs: config.lockoutSecs * 1000,
      openRegistration: config.authOpenRegistration,
    },
  };
}

const mailEveryMs = 1000;
const keepEveryMs = 60_000;
/** How long stopping waits for letters at most. */
const letterMs = 5_000;

export interface PeopleWork {
  readonly mailer: Mailer;
  readonly publicUrl: string;
  /** How long stopping waits for letters that are being sent. */
  readonly drainMs: number;
  readonly logger: Logger;
}

/** What is done about accounts aside from calls: letters are sent, and what is over is forgotten. */
export function startPeopleWork(
  accounts: Accounts,
  { mailer, publicUrl, drainMs, logger }: PeopleWork,
): () => Promise<void> {
  const office = {
    accounts,
    mailer,
    publicUrl,
    jitter: Math.random,
    onFailure: (failure: object) => logger.warn(failure, 'a letter could not be sent'),
  };
  const rounds = new Rounds((error) => logger.error({ err: error }, 'work on accounts failed; it is tried again'));
  rounds.every(
    mailEveryMs,
    rounds.of(() => deliverMail(office)),
  );
  rounds.every(
    keepEveryMs,
    rounds.of(() => keepAccounts(accounts)),
  );
  // A relay may take minutes. The letter stays in the queue until it is known to have been sent.
  return () => Promise.race([rounds.stop(), sleep(Math.min(drainMs, letterMs), undefined, { ref: false })]);
}

/** Runs work after the answer that asked for it, and can be waited for when the gateway stops. */
export class Afterwards {
  readonly #running = new Set<Promise<void>>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  run(work: () => Promise<void>): void {
    const running = new Promise((resolve) => {
      setImmediate(resolve);
    })
      .then(work)
      .catch(this.#onError)
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }
}
