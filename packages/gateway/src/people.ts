import type { Access, Accounts, AccountStore, Mailer, PasswordHasher } from '@reeve/core';
import { deliverMail, keepAccounts } from '@reeve/core';
import type { Config } from './config/settings.ts';
import type { Logger } from './telemetry/logger.ts';

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

/** What is done about accounts aside from calls: letters are sent, and what is over is forgotten. */
export function startPeopleWork(
  accounts: Accounts,
  { mailer, publicUrl, logger }: { readonly mailer: Mailer; readonly publicUrl: string; readonly logger: Logger },
): () => Promise<void> {
  const office = {
    accounts,
    mailer,
    publicUrl,
    jitter: Math.random,
    onFailure: (failure: object) => logger.warn(failure, 'a letter could not be sent'),
  };
  const mail = repeatedly(mailEveryMs, () => deliverMail(office), logger);
  const keep = repeatedly(keepEveryMs, () => keepAccounts(accounts), logger);
  return async () => {
    await Promise.all([mail(), keep()]);
  };
}

/** Does the work again and again, never twice at once; returns how to stop, which waits for what is being done. */
function repeatedly(everyMs: number, work: () => Promise<void>, logger: Logger): () => Promise<void> {
  let current = Promise.resolve();
  let busy = false;
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    current = work()
      .catch((error: unknown) => logger.error({ err: error }, 'work on accounts failed; it is tried again'))
      .finally(() => {
        busy = false;
      });
  }, everyMs);
  return () => {
    clearInterval(timer);
    return current;
  };
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
