import type { Access } from '../access/access.ts';
import type { AccessChange } from '../access/access-slice.ts';
import type { JournalOf } from '../journal/journal.ts';
import type { AccountsChange } from './accounts-slice.ts';
import type { AccountStore } from './account-store.ts';
import type { PasswordHasher } from './password-hasher.ts';

/** What the use cases about people work on. */
/** Accounts also owe entries to the log, and note when they stand there. */
export interface AccountsAccess extends Access {
  readonly journal: JournalOf<AccessChange | AccountsChange, never>;
}

export interface Accounts {
  readonly access: AccountsAccess;
  readonly store: AccountStore;
  readonly hasher: PasswordHasher;
  readonly settings: AccountSettings;
  /** Told when a session of the account has ended, so that its open streams end, too. */
  readonly onSessionEnd: (accountId: string) => void;
}

export interface AccountSettings {
  readonly accessTokenTtlMs: number;
  readonly refreshTtlMs: number;
  readonly refreshTtlRememberMs: number;
  readonly inviteTtlMs: number;
  readonly resetTtlMs: number;
  readonly lockoutAttempts: number;
  readonly lockoutMs: number;
  readonly openRegistration: boolean;
}

/** Where a call about accounts came from; part of its audit entries. */
export interface Origin {
  readonly address: string;
  readonly userAgent: string;
  readonly requestId: string;
}

/** The names of locks: transactions that share one run one after the other. */
export const lock = {
  firstAccount: 'accounts',
  owners: 'owners',
  owed: 'owed',
  email: (emailHash: string) => `email:${emailHash}`,
  account: (id: string) => `account:${id}`,
  session: (id: string) => `session:${id}`,
  invite: (id: string) => `invite:${id}`,
  letter: (id: string) => `letter:${id}`,
} as const;

/** What attempts are counted under: nobody's email stands in the store because someone mistyped it. */
export function emailHashOf(accounts: Accounts, emailKey: string): string {
  return accounts.access.sha256(`email:${emailKey}`);
}
