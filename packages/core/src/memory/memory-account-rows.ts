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
  OwedEntry,
  Page,
} from '../accounts/index.ts';
import type { Binding } from '../access/index.ts';
import { mayReach } from '../access/index.ts';
import type { EpochMs } from '../kernel/index.ts';
import { ReeveError } from '../kernel/index.ts';
import type { Touch } from './memory-table.ts';
import { MemoryTable } from './memory-table.ts';

/** The rows of all accounts, by id or hash. */
export interface AccountTables {
  readonly accounts: Map<string, Account>;
  readonly identities: Map<string, Identity>;
  readonly sessions: Map<string, Session>;
  readonly refreshTokens: Map<string, RefreshToken>;
  readonly invites: Map<string, Invite>;
  readonly sentTokens: Map<string, SentToken>;
  readonly attempts: Map<string, Attempts>;
  readonly letters: Map<string, QueuedLetter>;
  readonly owed: Map<string, OwedEntry>;
}

interface Place {
  readonly createdAt: EpochMs;
  readonly id: string;
}

/** The rows as one transaction sees and changes them. */
export class MemoryAccountRows implements AccountRows {
  readonly #accounts: MemoryTable<Account>;
  readonly #identities: MemoryTable<Identity>;
  readonly #sessions: MemoryTable<Session>;
  readonly #refreshTokens: MemoryTable<RefreshToken>;
  readonly #invites: MemoryTable<Invite>;
  readonly #sentTokens: MemoryTable<SentToken>;
  readonly #attempts: MemoryTable<Attempts>;
  readonly #letters: MemoryTable<QueuedLetter>;
  readonly #owed: MemoryTable<OwedEntry>;

  constructor(tables: AccountTables, check: (touch: Touch) => void) {
    this.#accounts = new MemoryTable(tables.accounts, check);
    this.#identities = new MemoryTable(tables.identities, check);
    this.#sessions = new MemoryTable(tables.sessions, check);
    this.#refreshTokens = new MemoryTable(tables.refreshTokens, check);
    this.#invites = new MemoryTable(tables.invites, check);
    this.#sentTokens = new MemoryTable(tables.sentTokens, check);
    this.#attempts = new MemoryTable(tables.attempts, check);
    this.#letters = new MemoryTable(tables.letters, check);
    this.#owed = new MemoryTable(tables.owed, check);
  }

  keep(): void {
    for (const table of [this.#accounts, this.#identities, this.#sessions, this.#refreshTokens, this.#invites])
      table.keep();
    for (const table of [this.#sentTokens, this.#attempts, this.#letters, this.#owed]) table.keep();
  }

  async account(id: string): Promise<Account | undefined> {
    return this.#accounts.get(id);
  }

  async accountByEmail(emailKey: string): Promise<Account | undefined> {
    return this.#accounts.where((account) => account.emailKey === emailKey)[0];
  }

  async accounts(after: Place | null, limit: number): Promise<Page<Account>> {
    const all = this.#accounts.where(() => true).sort(byPlace);
    const rest = after === null ? all : all.filter((account) => byPlace(account, after) > 0);
    return { items: rest.slice(0, limit), total: all.length };
  }

  async countAccounts(): Promise<number> {
    return this.#accounts.where(() => true).length;
  }

  async countActiveOwners(): Promise<number> {
    return this.#accounts.where(isActiveOwner).length;
  }

  async saveAccount(account: Account): Promise<void> {
    const { id, emailKey } = account;
    if (this.#accounts.where((other) => other.emailKey === emailKey && other.id !== id).length > 0) {
      throw new ReeveError('email_taken', 'another account has this email');
    }
    this.#accounts.set(id, account);
  }

  async identity(id: string): Promise<Identity | undefined> {
    return this.#identities.get(id);
  }

  async identitiesOf(accountId: string): Promise<readonly Identity[]> {
    return this.#identities.where((identity) => identity.accountId === accountId).sort(byId);
  }

  async saveIdentity(identity: Identity): Promise<void> {
    this.#identities.set(identity.id, identity);
  }

  async removeIdentities(accountId: string): Promise<void> {
    for (const { id } of await this.identitiesOf(accountId)) this.#identities.remove(id);
  }

  async session(id: string): Promise<Session | undefined> {
    return this.#sessions.get(id);
  }

  async sessionWithAccount(id: string): Promise<{ readonly session: Session; readonly account: Account } | undefined> {
    const session = this.#sessions.get(id);
    const account = session === undefined ? undefined : this.#accounts.get(session.accountId);
    return session === undefined || account === undefined ? undefined : { session, account };
  }

  async liveSessions(accountId: string, now: EpochMs): Promise<readonly Session[]> {
    const live = this.#sessions.where(
      (session) => session.accountId === accountId && session.endedAt === null && session.expiresAt > now,
    );
    return live.sort(newestFirst);
  }

  async saveSession(session: Session): Promise<void> {
    this.#sessions.set(session.id, session);
  }

  async endSessions(accountId: string, at: EpochMs): Promise<readonly string[]> {
    const open = this.#sessions.where((session) => session.accountId === accountId && session.endedAt === null);
    for (const session of open) this.#sessions.set(session.id, { ...session, endedAt: at });
    return open.map((session) => session.id);
  }

  async endAllSessions(at: EpochMs): Promise<number> {
    const open = this.#sessions.where((session) => session.endedAt === null);
    for (const session of open) this.#sessions.set(session.id, { ...session, endedAt: at });
    return open.length;
  }

  async refreshToken(hash: string): Promise<RefreshToken | undefined> {
    return this.#refreshTokens.get(hash);
  }

  async saveRefreshToken(token: RefreshToken): Promise<void> {
    this.#refreshTokens.set(token.hash, token);
  }

  async invite(id: string): Promise<Invite | undefined> {
    return this.#invites.get(id);
  }

  async inviteByEmail(emailKey: string): Promise<Invite | undefined> {
    return this.#invites.where((invite) => invite.emailKey === emailKey).sort(newestFirst)[0];
  }

  async invites(within: Binding, now: EpochMs, after: Place | null, limit: number): Promise<Page<Invite>> {
    const isListed = (invite: Invite) => invite.expiresAt > now && mayReach(within, invite);
    const all = this.#invites.where(isListed).sort(newestFirst);
    const rest = after === null ? all : all.filter((invite) => newestFirst(invite, after) > 0);
    return { items: rest.slice(0, limit), total: all.length };
  }

  async saveInvite(invite: Invite): Promise<void> {
    this.#invites.set(invite.id, invite);
  }

  async removeInvite(id: string): Promise<void> {
    this.#invites.remove(id);
    await this.removeSentTokens('invite', id);
  }

  async sentToken(hash: string): Promise<SentToken | undefined> {
    return this.#sentTokens.get(hash);
  }

  async saveSentToken(token: SentToken): Promise<void> {
    this.#sentTokens.set(token.hash, token);
  }

  async removeSentTokens(purpose: SentToken['purpose'], subjectId: string): Promise<void> {
    const sent = this.#sentTokens.where((token) => token.purpose === purpose && token.subjectId === subjectId);
    for (const token of sent) this.#sentTokens.remove(token.hash);
  }

  async attempts(emailHash: string): Promise<Attempts | undefined> {
    return this.#attempts.get(emailHash);
  }

  async saveAttempts(attempts: Attempts): Promise<void> {
    this.#attempts.set(attempts.emailHash, attempts);
  }

  async removeAttempts(emailHash: string): Promise<void> {
    this.#attempts.remove(emailHash);
  }

  async dueLetters(now: EpochMs, limit: number): Promise<readonly QueuedLetter[]> {
    const due = this.#letters.where((letter) => letter.dueAt <= now);
    return due.sort((a, b) => a.dueAt - b.dueAt || byId(a, b)).slice(0, limit);
  }

  async letter(id: string): Promise<QueuedLetter | undefined> {
    return this.#letters.get(id);
  }

  async saveLetter(letter: QueuedLetter): Promise<void> {
    this.#letters.set(letter.id, letter);
  }

  async removeLetter(id: string): Promise<void> {
    this.#letters.remove(id);
  }

  async removeAllSent(): Promise<number> {
    const invites = this.#invites.where(() => true);
    for (const { id } of invites) this.#invites.remove(id);
    for (const { hash } of this.#sentTokens.where(() => true)) this.#sentTokens.remove(hash);
    for (const { id } of this.#letters.where(() => true)) this.#letters.remove(id);
    return invites.length;
  }

  /** Memory belongs to one gateway, whose keys are in memory, too. Whoever asks here has asked there. */
  holdKey(): Promise<boolean> {
    return Promise.resolve(true);
  }

  async owe(entry: OwedEntry): Promise<void> {
    this.#owed.set(entry.id, entry);
  }

  async owed(before: EpochMs, limit: number): Promise<readonly OwedEntry[]> {
    const owed = this.#owed.where((entry) => entry.at < before);
    return owed.sort((a, b) => a.at - b.at || byId(a, b)).slice(0, limit);
  }

  async removeStale(before: EpochMs, now: EpochMs): Promise<void> {
    const over = this.#sessions.where(
      ({ endedAt, expiresAt }) => (endedAt !== null && endedAt < before) || expiresAt < before,
    );
    const gone = new Set(over.map((session) => session.id));
    for (const token of this.#refreshTokens.where(({ sessionId }) => gone.has(sessionId))) {
      this.#refreshTokens.remove(token.hash);
    }
    for (const id of gone) this.#sessions.remove(id);
    for (const invite of this.#invites.where(({ expiresAt }) => expiresAt <= now)) this.#invites.remove(invite.id);
    for (const token of this.#sentTokens.where(({ expiresAt }) => expiresAt <= now))
      this.#sentTokens.remove(token.hash);
    const idle = this.#attempts.where(
      ({ updatedAt, lockedUntil }) => updatedAt < before && (lockedUntil === null || lockedUntil <= now),
    );
    for (const { emailHash } of idle) this.#attempts.remove(emailHash);
  }
}

function isActiveOwner({ role, status, orgId }: Account): boolean {
  return role === 'owner' && status === 'active' && orgId === null;
}

function byPlace(a: Place, b: Place): number {
  return a.createdAt - b.createdAt || byId(a, b);
}

/** Newest first, then by id. */
function newestFirst(a: Place, b: Place): number {
  return b.createdAt - a.createdAt || byId(a, b);
}

function byId(a: { readonly id: string }, b: { readonly id: string }): number {
  if (a.id === b.id) return 0;
  return a.id < b.id ? -1 : 1;
}
