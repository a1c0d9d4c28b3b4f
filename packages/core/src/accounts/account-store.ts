import type { Binding } from '../access/index.ts';
import type { EpochMs } from '../kernel/index.ts';
import type { Account, Attempts, Identity, Invite, QueuedLetter, RefreshToken, SentToken, Session } from './account.ts';

/** A row of the audit outbox: an entry that a change of accounts owes to the log. */
export interface OutboxEntry {
  readonly id: string;
  readonly at: EpochMs;
  /** The draft of the entry, as JSON. */
  readonly draft: string;
}

/** The last item of the page before. Pages are sorted by creation, then by id. */
export interface PageCursor {
  readonly createdAt: EpochMs;
  readonly id: string;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly total: number;
}

/**
 * Stores accounts. Gateways that share a database share the accounts, so no gateway keeps them in memory. Each use case
 * is one transaction over the rows it needs.
 */
export interface AccountStore {
  /**
   * Runs `work` and keeps all of its changes or none. Transactions that share a lock run one after the other, across
   * all gateways on the same store. `work` must await nothing but `rows`.
   */
  transaction<Result>(locks: readonly string[], work: (rows: AccountRows) => Promise<Result>): Promise<Result>;
  /** Reads without a transaction. Each query sees the state of its own moment. */
  read<Result>(work: (rows: AccountRows) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

/** The rows, within a transaction. `save` inserts or replaces by id (or hash). */
export interface AccountRows {
  account(id: string): Promise<Account | undefined>;
  accountByEmail(emailKey: string): Promise<Account | undefined>;
  /** Sorted by creation, then by id. `after` is the last account of the page before. */
  accounts(after: PageCursor | null, limit: number): Promise<Page<Account>>;
  countAccounts(): Promise<number>;
  /** Owners bound to a tenant do not count: they cannot manage accounts. */
  countActiveOwners(): Promise<number>;
  /** Throws if another account has the same email key. */
  saveAccount(account: Account): Promise<void>;

  identity(id: string): Promise<Identity | undefined>;
  identitiesOf(accountId: string): Promise<readonly Identity[]>;
  saveIdentity(identity: Identity): Promise<void>;
  /** Nobody opens the account by single sign-on any more. */
  removeIdentities(accountId: string): Promise<void>;

  session(id: string): Promise<Session | undefined>;
  /** The session and its account in one query. Every call with an access token makes it. */
  sessionWithAccount(id: string): Promise<{ readonly session: Session; readonly account: Account } | undefined>;
  /** Sessions that have neither ended nor expired by `now`, newest first. */
  liveSessions(accountId: string, now: EpochMs): Promise<readonly Session[]>;
  saveSession(session: Session): Promise<void>;
  /** Ends every session of the account that has not ended yet, and returns their ids. */
  endSessions(accountId: string, at: EpochMs): Promise<readonly string[]>;
  /** Ends every session of every account that has not ended yet, and returns how many there were. */
  endAllSessions(at: EpochMs): Promise<number>;
  refreshToken(hash: string): Promise<RefreshToken | undefined>;
  saveRefreshToken(token: RefreshToken): Promise<void>;

  invite(id: string): Promise<Invite | undefined>;
  inviteByEmail(emailKey: string): Promise<Invite | undefined>;
  /** Invites within a binding that have not expired by `now`, newest first, then by id. */
  invites(within: Binding, now: EpochMs, after: PageCursor | null, limit: number): Promise<Page<Invite>>;
  saveInvite(invite: Invite): Promise<void>;
  /** Removes the invite and every token that opens it. */
  removeInvite(id: string): Promise<void>;

  sentToken(hash: string): Promise<SentToken | undefined>;
  saveSentToken(token: SentToken): Promise<void>;
  removeSentTokens(purpose: SentToken['purpose'], subjectId: string): Promise<void>;

  attempts(emailHash: string): Promise<Attempts | undefined>;
  saveAttempts(attempts: Attempts): Promise<void>;
  removeAttempts(emailHash: string): Promise<void>;

  /** Letters due by `now`, the longest due first. */
  dueLetters(now: EpochMs, limit: number): Promise<readonly QueuedLetter[]>;
  letter(id: string): Promise<QueuedLetter | undefined>;
  saveLetter(letter: QueuedLetter): Promise<void>;
  removeLetter(id: string): Promise<void>;

  /** Removes every invite, every token that was sent, and every letter that waits. Returns how many invites there were. */
  removeAllSent(): Promise<number>;

  /**
   * Whether an API key is in force by the store, whatever this gateway has heard. Until the transaction ends, nobody can
   * revoke it: call this last.
   */
  holdKey(id: string, now: EpochMs): Promise<boolean>;

  saveOutboxEntry(entry: OutboxEntry): Promise<void>;
  /** Entries in the outbox since before `before`, oldest first. */
  outboxEntries(before: EpochMs, limit: number): Promise<readonly OutboxEntry[]>;

  /**
   * Removes what nobody needs any more: sessions that ended or expired before `before`, with their refresh tokens;
   * expired invites and tokens; and attempts last updated before `before` that are not locked at `now`.
   */
  removeStale(before: EpochMs, now: EpochMs): Promise<void>;
}
