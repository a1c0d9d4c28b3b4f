import type { Access, AccessChange, Person, Principal } from '../access/index.ts';
import { requireAuthority, standingOf } from '../access/index.ts';
import type { AccountStore } from './account-store.ts';
import type { OidcRules } from './oidc-rules.ts';
import type { JournalOf, RestoresChange } from '../journal/index.ts';
import { ReeveError } from '../kernel/index.ts';

/** Accounts also owe entries to the log, and note when the log holds them. */
export interface AccountsAccess extends Access {
  readonly journal: JournalOf<AccessChange | AccountsChange | RestoresChange, never>;
}

/** The dependencies of the account use cases. */
export interface Accounts {
  readonly access: AccountsAccess;
  readonly store: AccountStore;
  readonly hasher: PasswordHasher;
  readonly settings: AccountSettings;
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
  /** Whether people may log in with a password. */
  readonly passwords: boolean;
  /** How people log in by single sign-on. Null if they cannot. */
  readonly oidc: OidcRules | null;
}

/** Where a call about accounts came from. Its audit entries include this. */
export interface Origin {
  readonly address: string;
  readonly userAgent: string;
  readonly requestId: string;
}

/** The names of locks. Transactions that share a lock run one after the other. */
export const lock = {
  firstAccount: 'accounts',
  owners: 'owners',
  outbox: 'owed',
  identity: (id: string) => `identity:${id}`,
  email: (emailHash: string) => `email:${emailHash}`,
  account: (id: string) => `account:${id}`,
  session: (id: string) => `session:${id}`,
  invite: (id: string) => `invite:${id}`,
  letter: (id: string) => `letter:${id}`,
} as const;

/** The key that login attempts count under. The hash keeps mistyped emails out of the store. */
export function emailHashOf(accounts: Accounts, emailKey: string): string {
  return accounts.access.sha256(`email:${emailKey}`);
}

export type AccountsChange =
  /** The log now holds an entry that a change of accounts owed to it. */
  | { readonly kind: 'owed_entry_recorded'; readonly id: string }
  /** These accounts and sessions have lost rights, or have others. The store has it already; gateways must hear of it. */
  | { readonly kind: 'rights_changed'; readonly ids: readonly string[] };

/**
 * Hashes passwords, slowly on purpose and never on the event loop. Callers normalise the password first
 * (`normalisePassword`).
 */
export interface PasswordHasher {
  hash(password: string): Promise<string>;
  /**
   * `outdated`: the hash has other parameters than today's. Hash again while the password is at hand. A malformed hash
   * takes as long as a real one, and is not ok. Throws `overloaded` if too many calls already wait.
   */
  verify(password: string, hash: string): Promise<{ readonly ok: boolean; readonly outdated: boolean }>;
  /** A hash of nobody's password with today's parameters. Logins with an unknown email verify against it. */
  readonly decoy: string;
}

/** The person who calls. An API key is not a person. */
export function requireLogin(by: Principal): asserts by is Person {
  if (by.login !== undefined) return;
  throw new ReeveError('account_required', 'this is about your own account; log in as a person');
}

/** Refuses whatever needs a password where passwords are off. */
export function requirePasswords({ settings }: Accounts): void {
  if (!settings.passwords) throw passwordOff('passwords are off on this gateway; sign in through single sign-on');
}

export function passwordOff(message: string): ReeveError {
  return new ReeveError('password_off', message);
}

/** Only an owner makes, demotes, disables or invites an owner; an API key acts as an admin, never as an owner. */
export function requireOwner(by: Principal): void {
  requireAuthority(standingOf(noKeys, by), 'owner_account');
}

/** No agent is concerned here, so the lineage of credentials does not matter. */
const noKeys = { find: () => undefined };
