import type {
  Account,
  AccountRows,
  Attempts,
  Binding,
  Identity,
  Invite,
  OutboxEntry,
  Page,
  PageCursor,
  QueuedLetter,
  RefreshToken,
  Row,
  SentToken,
  Session,
  Table,
} from '@reeve/core';
import { accountsTable, attemptsTable, identitiesTable, invitesTable, lettersTable } from '@reeve/core';
import { outboxTable, refreshTokensTable, sentTokensTable, sessionsTable } from '@reeve/core';
import { ReeveError, numberIn, textIn } from '@reeve/core';
import type { SqlSession, SqlValue } from './sql-database.ts';
import { isDuplicate } from './sql-database.ts';
import { columnsOf, rowSql, upsertSql } from './table-sql.ts';

/** The rows of accounts in portable SQL. */
export class SqlAccountRows implements AccountRows {
  readonly #sql: SqlSession;

  constructor(sql: SqlSession) {
    this.#sql = sql;
  }

  account(id: string): Promise<Account | undefined> {
    return this.#find(accountsTable, id);
  }

  async accountByEmail(emailKey: string): Promise<Account | undefined> {
    return (await this.#many(accountsTable, 'WHERE email_key = ?', emailKey))[0];
  }

  async accounts(after: PageCursor | null, limit: number): Promise<Page<Account>> {
    const order = 'ORDER BY created_at, id LIMIT ?';
    const items =
      after === null
        ? await this.#many(accountsTable, order, limit)
        : await this.#many(accountsTable, `WHERE (created_at, id) > (?, ?) ${order}`, after.createdAt, after.id, limit);
    return { items, total: await this.countAccounts() };
  }

  countAccounts(): Promise<number> {
    return this.#count('SELECT count(*) AS n FROM accounts');
  }

  countActiveOwners(): Promise<number> {
    return this.#count(`SELECT count(*) AS n FROM accounts WHERE ${isActiveOwner}`);
  }

  /**
   * No statement fails because of the email, since that would end the whole transaction on some databases. The
   * exception: two accounts change their email to the same one at the same moment.
   */
  async saveAccount(account: Account): Promise<void> {
    const values = valuesOf(accountsTable, account);
    const { id, emailKey } = account;
    try {
      if ((await this.#sql.run(updateAccount, ...values, id, emailKey, id)) > 0) return;
      if ((await this.#sql.run(insertAccount, ...values)) > 0) return;
    } catch (error) {
      if (!isDuplicate(error)) throw error;
    }
    throw new ReeveError('email_taken', 'another account has this email');
  }

  identity(id: string): Promise<Identity | undefined> {
    return this.#find(identitiesTable, id);
  }

  identitiesOf(accountId: string): Promise<readonly Identity[]> {
    return this.#many(identitiesTable, 'WHERE account_id = ? ORDER BY id', accountId);
  }

  saveIdentity(identity: Identity): Promise<void> {
    return this.#save(identitiesTable, identity);
  }

  async removeIdentities(accountId: string): Promise<void> {
    await this.#sql.run('DELETE FROM identities WHERE account_id = ?', accountId);
  }

  session(id: string): Promise<Session | undefined> {
    return this.#find(sessionsTable, id);
  }

  async sessionWithAccount(id: string): Promise<{ readonly session: Session; readonly account: Account } | undefined> {
    const [row] = await this.#sql.all(selectSessionWithAccount, id);
    return row && { session: itemIn(sessionsTable, row), account: itemIn(accountsTable, row) };
  }

  liveSessions(accountId: string, now: number): Promise<readonly Session[]> {
    const live = 'WHERE account_id = ? AND ended_at IS NULL AND expires_at > ? ORDER BY created_at DESC, id';
    return this.#many(sessionsTable, live, accountId, now);
  }

  saveSession(session: Session): Promise<void> {
    return this.#save(sessionsTable, session);
  }

  async endSessions(accountId: string, at: number): Promise<readonly string[]> {
    const end = 'UPDATE sessions SET ended_at = ? WHERE account_id = ? AND ended_at IS NULL RETURNING id';
    return (await this.#sql.all(end, at, accountId)).map((row) => textIn(row, 'id'));
  }

  endAllSessions(at: number): Promise<number> {
    return this.#sql.run('UPDATE sessions SET ended_at = ? WHERE ended_at IS NULL', at);
  }

  refreshToken(hash: string): Promise<RefreshToken | undefined> {
    return this.#find(refreshTokensTable, hash);
  }

  saveRefreshToken(token: RefreshToken): Promise<void> {
    return this.#save(refreshTokensTable, token);
  }

  invite(id: string): Promise<Invite | undefined> {
    return this.#find(invitesTable, id);
  }

  async inviteByEmail(emailKey: string): Promise<Invite | undefined> {
    return (await this.#many(invitesTable, 'WHERE email_key = ? ORDER BY created_at DESC, id LIMIT 1', emailKey))[0];
  }

  async invites(within: Binding, now: number, after: PageCursor | null, limit: number): Promise<Page<Invite>> {
    const { orgId, teamId } = within;
    const tenant = `${orgId === null ? '' : 'AND org_id = ?'} ${teamId === null ? '' : 'AND team_id = ?'}`;
    const listed = [now, ...[orgId, teamId].filter((each) => each !== null)];
    const order = 'ORDER BY created_at DESC, id LIMIT ?';
    const beyond = 'AND (created_at < ? OR (created_at = ? AND id > ?))';
    const place = after === null ? [] : [after.createdAt, after.createdAt, after.id];
    const rest = `WHERE expires_at > ? ${tenant} ${after === null ? '' : beyond} ${order}`;
    const items = await this.#many(invitesTable, rest, ...listed, ...place, limit);
    const count = `SELECT count(*) AS n FROM invites WHERE expires_at > ? ${tenant}`;
    return { items, total: await this.#count(count, ...listed) };
  }

  saveInvite(invite: Invite): Promise<void> {
    return this.#save(invitesTable, invite);
  }

  async removeInvite(id: string): Promise<void> {
    await this.#sql.run('DELETE FROM invites WHERE id = ?', id);
    await this.removeSentTokens('invite', id);
  }

  sentToken(hash: string): Promise<SentToken | undefined> {
    return this.#find(sentTokensTable, hash);
  }

  saveSentToken(token: SentToken): Promise<void> {
    return this.#save(sentTokensTable, token);
  }

  async removeSentTokens(purpose: SentToken['purpose'], subjectId: string): Promise<void> {
    await this.#sql.run('DELETE FROM sent_tokens WHERE purpose = ? AND subject_id = ?', purpose, subjectId);
  }

  attempts(emailHash: string): Promise<Attempts | undefined> {
    return this.#find(attemptsTable, emailHash);
  }

  saveAttempts(attempts: Attempts): Promise<void> {
    return this.#save(attemptsTable, attempts);
  }

  async removeAttempts(emailHash: string): Promise<void> {
    await this.#sql.run('DELETE FROM attempts WHERE email_hash = ?', emailHash);
  }

  dueLetters(now: number, limit: number): Promise<readonly QueuedLetter[]> {
    return this.#many(lettersTable, 'WHERE due_at <= ? ORDER BY due_at, id LIMIT ?', now, limit);
  }

  letter(id: string): Promise<QueuedLetter | undefined> {
    return this.#find(lettersTable, id);
  }

  saveLetter(letter: QueuedLetter): Promise<void> {
    return this.#save(lettersTable, letter);
  }

  async removeLetter(id: string): Promise<void> {
    await this.#sql.run('DELETE FROM letters WHERE id = ?', id);
  }

  async removeAllSent(): Promise<number> {
    await this.#sql.run('DELETE FROM sent_tokens');
    await this.#sql.run('DELETE FROM letters');
    return this.#sql.run('DELETE FROM invites');
  }

  /** A change that changes nothing holds the row. Revoking the key waits for it. */
  async holdKey(id: string, now: number): Promise<boolean> {
    const held = await this.#sql.run(
      `UPDATE api_keys SET id = id WHERE id = ? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)`,
      id,
      now,
    );
    return held > 0;
  }

  saveOutboxEntry(entry: OutboxEntry): Promise<void> {
    return this.#save(outboxTable, entry);
  }

  outboxEntries(before: number, limit: number): Promise<readonly OutboxEntry[]> {
    return this.#many(outboxTable, 'WHERE at < ? ORDER BY at, id LIMIT ?', before, limit);
  }

  async removeStale(before: number, now: number): Promise<void> {
    const over = 'ended_at < ? OR expires_at < ?';
    const ofThose = `session_id IN (SELECT id FROM sessions WHERE ${over})`;
    await this.#sql.run(`DELETE FROM refresh_tokens WHERE ${ofThose}`, before, before);
    await this.#sql.run(`DELETE FROM sessions WHERE ${over}`, before, before);
    await this.#sql.run('DELETE FROM invites WHERE expires_at <= ?', now);
    await this.#sql.run('DELETE FROM sent_tokens WHERE expires_at <= ?', now);
    const idle = 'updated_at < ? AND (locked_until IS NULL OR locked_until <= ?)';
    await this.#sql.run(`DELETE FROM attempts WHERE ${idle}`, before, now);
  }

  async #find<Item>(table: Table<Item>, key: string): Promise<Item | undefined> {
    return (await this.#many(table, `WHERE ${Object.keys(table.key).join()} = ?`, key))[0];
  }

  async #many<Item>(table: Table<Item>, where: string, ...values: readonly SqlValue[]): Promise<readonly Item[]> {
    return (await this.#sql.all(`SELECT * FROM ${table.name} ${where}`, ...values)).map(table.itemOf);
  }

  async #save<Item>(table: Table<Item>, item: Item): Promise<void> {
    await this.#sql.run(upsertSql(table), ...valuesOf(table, item));
  }

  async #count(sql: string, ...values: readonly SqlValue[]): Promise<number> {
    const [row] = await this.#sql.all(sql, ...values);
    return row === undefined ? 0 : numberIn(row, 'n');
  }
}

const isActiveOwner = `role = 'owner' AND status = 'active' AND org_id IS NULL`;

const insertAccount = `INSERT ${rowSql(accountsTable)} ON CONFLICT DO NOTHING`;
const updateAccount = `UPDATE accounts SET ${columnsOf(accountsTable)
  .map(({ name }) => `${name} = ?`)
  .join(', ')}
  WHERE id = ? AND NOT EXISTS (SELECT 1 FROM accounts AS other WHERE other.email_key = ? AND other.id <> ?)`;

const selectSessionWithAccount = `SELECT ${aliased(sessionsTable)}, ${aliased(accountsTable)}
  FROM sessions JOIN accounts ON accounts.id = sessions.account_id WHERE sessions.id = ?`;

/** The columns of a table among those of others. */
function aliased(table: Table): string {
  return columnsOf(table)
    .map(({ name }) => `${table.name}.${name} AS ${table.name}_${name}`)
    .join(', ');
}

function itemIn<Item>(table: Table<Item>, joined: Row): Item {
  const names = columnsOf(table).map(({ name }) => name);
  return table.itemOf(Object.fromEntries(names.map((name) => [name, joined[`${table.name}_${name}`]])));
}

function valuesOf<Item>(table: Table<Item>, item: Item): SqlValue[] {
  return columnsOf(table).map(({ of }) => of(item));
}
