import type {
  Account,
  Attempts,
  Identity,
  Invite,
  QueuedLetter,
  RefreshToken,
  SentToken,
  Session,
  AccountRows,
  OutboxEntry,
  Page,
  PageCursor,
} from '../accounts/index.ts';
import { accountsTable, attemptsTable, identitiesTable, invitesTable, lettersTable } from '../accounts/index.ts';
import { outboxTable, refreshTokensTable, sentTokensTable, sessionsTable } from '../accounts/index.ts';
import type { Binding } from '../access/index.ts';
import { mayReach } from '../access/index.ts';
import type { Table } from '../journal/index.ts';
import type { EpochMs } from '../kernel/index.ts';
import { ReeveError } from '../kernel/index.ts';
import type { Touch } from './memory-table.ts';
import { MemoryTable } from './memory-table.ts';

/** The rows of each table, by id or hash. */
export type KeptRows = Map<Table, Map<string, unknown>>;

/** The rows as one transaction sees and changes them. */
export class MemoryAccountRows implements AccountRows {
  readonly #kept: KeptRows;
  readonly #check: (touch: Touch) => void;
  readonly #seen = new Map<Table, MemoryTable<unknown>>();

  constructor(kept: KeptRows, check: (touch: Touch) => void) {
    this.#kept = kept;
    this.#check = check;
  }

  keep(): void {
    for (const table of this.#seen.values()) table.keep();
  }

  async account(id: string): Promise<Account | undefined> {
    return this.#of(accountsTable).get(id);
  }

  async accountByEmail(emailKey: string): Promise<Account | undefined> {
    return this.#of(accountsTable).where((account) => account.emailKey === emailKey)[0];
  }

  async accounts(after: PageCursor | null, limit: number): Promise<Page<Account>> {
    const all = this.#of(accountsTable)
      .where(() => true)
      .sort(byPlace);
    const rest = after === null ? all : all.filter((account) => byPlace(account, after) > 0);
    return { items: rest.slice(0, limit), total: all.length };
  }

  async countAccounts(): Promise<number> {
    return this.#of(accountsTable).where(() => true).length;
  }

  async countActiveOwners(): Promise<number> {
    return this.#of(accountsTable).where(isActiveOwner).length;
  }

  async saveAccount(account: Account): Promise<void> {
    const { id, emailKey } = account;
    if (this.#of(accountsTable).where((other) => other.emailKey === emailKey && other.id !== id).length > 0) {
      throw new ReeveError('email_taken', 'another account has this email');
    }
    this.#of(accountsTable).save(account);
  }

  async identity(id: string): Promise<Identity | undefined> {
    return this.#of(identitiesTable).get(id);
  }

  async identitiesOf(accountId: string): Promise<readonly Identity[]> {
    return this.#of(identitiesTable)
      .where((identity) => identity.accountId === accountId)
      .sort(byId);
  }

  async saveIdentity(identity: Identity): Promise<void> {
    this.#of(identitiesTable).save(identity);
  }

  async removeIdentities(accountId: string): Promise<void> {
    this.#of(identitiesTable).removeWhere((identity) => identity.accountId === accountId);
  }

  async session(id: string): Promise<Session | undefined> {
    return this.#of(sessionsTable).get(id);
  }

  async sessionWithAccount(id: string): Promise<{ readonly session: Session; readonly account: Account } | undefined> {
    const session = this.#of(sessionsTable).get(id);
    const account = session === undefined ? undefined : this.#of(accountsTable).get(session.accountId);
    return session === undefined || account === undefined ? undefined : { session, account };
  }

  async liveSessions(accountId: string, now: EpochMs): Promise<readonly Session[]> {
    const live = this.#of(sessionsTable).where(
      (session) => session.accountId === accountId && session.endedAt === null && session.expiresAt > now,
    );
    return live.sort(newestFirst);
  }

  async saveSession(session: Session): Promise<void> {
    this.#of(sessionsTable).save(session);
  }

  async endSessions(accountId: string, at: EpochMs): Promise<readonly string[]> {
    const open = this.#of(sessionsTable).where(
      (session) => session.accountId === accountId && session.endedAt === null,
    );
    for (const session of open) this.#of(sessionsTable).save({ ...session, endedAt: at });
    return open.map((session) => session.id);
  }

  async endAllSessions(at: EpochMs): Promise<number> {
    const open = this.#of(sessionsTable).where((session) => session.endedAt === null);
    for (const session of open) this.#of(sessionsTable).save({ ...session, endedAt: at });
    return open.length;
  }

  async refreshToken(hash: string): Promise<RefreshToken | undefined> {
    return this.#of(refreshTokensTable).get(hash);
  }

  async saveRefreshToken(token: RefreshToken): Promise<void> {
    this.#of(refreshTokensTable).save(token);
  }

  async invite(id: string): Promise<Invite | undefined> {
    return this.#of(invitesTable).get(id);
  }

  async inviteByEmail(emailKey: string): Promise<Invite | undefined> {
    return this.#of(invitesTable)
      .where((invite) => invite.emailKey === emailKey)
      .sort(newestFirst)[0];
  }

  async invites(within: Binding, now: EpochMs, after: PageCursor | null, limit: number): Promise<Page<Invite>> {
    const isListed = (invite: Invite) => invite.expiresAt > now && mayReach(within, invite);
    const all = this.#of(invitesTable).where(isListed).sort(newestFirst);
    const rest = after === null ? all : all.filter((invite) => newestFirst(invite, after) > 0);
    return { items: rest.slice(0, limit), total: all.length };
  }

  async saveInvite(invite: Invite): Promise<void> {
    this.#of(invitesTable).save(invite);
  }

  async removeInvite(id: string): Promise<void> {
    this.#of(invitesTable).remove(id);
    await this.removeSentTokens('invite', id);
  }

  async sentToken(hash: string): Promise<SentToken | undefined> {
    return this.#of(sentTokensTable).get(hash);
  }

  async saveSentToken(token: SentToken): Promise<void> {
    this.#of(sentTokensTable).save(token);
  }

  async removeSentTokens(purpose: SentToken['purpose'], subjectId: string): Promise<void> {
    this.#of(sentTokensTable).removeWhere((token) => token.purpose === purpose && token.subjectId === subjectId);
  }

  async attempts(emailHash: string): Promise<Attempts | undefined> {
    return this.#of(attemptsTable).get(emailHash);
  }

  async saveAttempts(attempts: Attempts): Promise<void> {
    this.#of(attemptsTable).save(attempts);
  }

  async removeAttempts(emailHash: string): Promise<void> {
    this.#of(attemptsTable).remove(emailHash);
  }

  async dueLetters(now: EpochMs, limit: number): Promise<readonly QueuedLetter[]> {
    const due = this.#of(lettersTable).where((letter) => letter.dueAt <= now);
    return due.sort((a, b) => a.dueAt - b.dueAt || byId(a, b)).slice(0, limit);
  }

  async letter(id: string): Promise<QueuedLetter | undefined> {
    return this.#of(lettersTable).get(id);
  }

  async saveLetter(letter: QueuedLetter): Promise<void> {
    this.#of(lettersTable).save(letter);
  }

  async removeLetter(id: string): Promise<void> {
    this.#of(lettersTable).remove(id);
  }

  async removeAllSent(): Promise<number> {
    this.#of(sentTokensTable).removeWhere(() => true);
    this.#of(lettersTable).removeWhere(() => true);
    return this.#of(invitesTable).removeWhere(() => true);
  }

  /** Memory belongs to one gateway, whose keys are in memory, too. Whoever asks here has asked there. */
  holdKey(): Promise<boolean> {
    return Promise.resolve(true);
  }

  async saveOutboxEntry(entry: OutboxEntry): Promise<void> {
    this.#of(outboxTable).save(entry);
  }

  async outboxEntries(before: EpochMs, limit: number): Promise<readonly OutboxEntry[]> {
    const owed = this.#of(outboxTable).where((entry) => entry.at < before);
    return owed.sort((a, b) => a.at - b.at || byId(a, b)).slice(0, limit);
  }

  async removeStale(before: EpochMs, now: EpochMs): Promise<void> {
    const isOver = ({ endedAt, expiresAt }: Session) => (endedAt !== null && endedAt < before) || expiresAt < before;
    const gone = new Set(
      this.#of(sessionsTable)
        .where(isOver)
        .map(({ id }) => id),
    );
    this.#of(refreshTokensTable).removeWhere(({ sessionId }) => gone.has(sessionId));
    this.#of(sessionsTable).removeWhere(isOver);
    this.#of(invitesTable).removeWhere(({ expiresAt }) => expiresAt <= now);
    this.#of(sentTokensTable).removeWhere(({ expiresAt }) => expiresAt <= now);
    this.#of(attemptsTable).removeWhere(
      ({ updatedAt, lockedUntil }) => updatedAt < before && (lockedUntil === null || lockedUntil <= now),
    );
  }

  #of<Item>(table: Table<Item>): MemoryTable<Item> {
    let found = this.#seen.get(table) as MemoryTable<Item> | undefined;
    if (found === undefined) {
      const kept = (this.#kept.get(table) ?? new Map<string, unknown>()) as Map<string, Item>;
      this.#kept.set(table, kept);
      found = new MemoryTable(table, kept, this.#check);
      this.#seen.set(table, found);
    }
    return found;
  }
}

function isActiveOwner({ role, status, orgId }: Account): boolean {
  return role === 'owner' && status === 'active' && orgId === null;
}

function byPlace(a: PageCursor, b: PageCursor): number {
  return a.createdAt - b.createdAt || byId(a, b);
}

/** Newest first, then by id. */
function newestFirst(a: PageCursor, b: PageCursor): number {
  return b.createdAt - a.createdAt || byId(a, b);
}

function byId(a: { readonly id: string }, b: { readonly id: string }): number {
  if (a.id === b.id) return 0;
  return a.id < b.id ? -1 : 1;
}
