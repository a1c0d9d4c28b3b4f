import type { Access, AccessChange, Login, Principal } from '../access/index.ts';
import { requireAuthority, standingOf } from '../access/index.ts';
import type { AccountStore } from './account-store.ts';
import type { JournalOf } from '../journal/index.ts';
import { ReeveError } from '../kernel/index.ts';

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

/** An entry that a change of accounts owed to the log stands in it now. */
export interface AccountsChange {
  readonly kind: 'owed_entry_recorded';
  readonly id: string;
}

/** Hashes passwords; slow on purpose and never on the event loop. Every spelling of a password is one (`normalisePassword`). */
export interface PasswordHasher {
  hash(password: string): Promise<string>;
  /**
   * `outdated`: made with other parameters than today's; hash anew while the password is at hand. What is no hash at all
   * takes as long as one and is not ok. Throws `overloaded` when too many wait already.
   */
  verify(password: string, hash: string): Promise<{ readonly ok: boolean; readonly outdated: boolean }>;
  /** A hash of nobody's password with today's parameters, to be verified against for an unknown email. */
  readonly decoy: string;
}

/** The person who calls; an API key is none. */
export function requireLogin(by: Principal): Login {
  if (by.login !== undefined) return by.login;
  throw new ReeveError('account_required', 'this is about your own account; log in with email and password');
}

/** Only an owner makes, demotes, disables or invites an owner; an API key acts as an admin, never as an owner. */
export function requireOwner(by: Principal): void {
  requireAuthority(standingOf(noKeys, by), 'owner_account');
}

/** Where no agent is concerned it does not matter which credential comes from which. */
const noKeys = { find: () => undefined };
