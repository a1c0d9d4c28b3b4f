import type {
  AuditPage,
  AuditQuery,
  AuditReader,
  PeoplePage,
  PeopleQuery,
  PeopleReader,
  StoredEntry,
  UserRunsPage,
  UserRunsQuery,
} from '@reeve/core';
import { EntryPage, mostBytesOfPage, entriesTable, numberIn } from '@reeve/core';
import { peoplePage, peopleSelect } from '../sql/people-select.ts';
import type { SqlValue } from '../sql/sql-database.ts';
import { userRunsPage, userRunsSelect } from '../sql/user-runs-select.ts';
import type { Stretch } from './audit-select.ts';
import { auditSelect, mostSearched } from './audit-select.ts';
import { lookedAtIn } from './people-looked-at.ts';
import type { PostgresDatabase } from './postgres-database.ts';
import { blockBits } from './postgres-schema.ts';

export class AuditLog implements AuditReader, PeopleReader {
  readonly #db: PostgresDatabase;

  constructor(db: PostgresDatabase) {
    this.#db = db;
  }

  latest(query: AuditQuery): Promise<AuditPage> {
    return this.#read(query, true);
  }

  oldest(query: AuditQuery): Promise<AuditPage> {
    return this.#read(query, false);
  }

  async after(seq: number, limit: number): Promise<StoredEntry[]> {
    const sql = withinPage('SELECT seq, octet_length(canonical) AS size FROM audit WHERE seq > ? ORDER BY seq LIMIT ?');
    return (await this.#db.all(sql, seq, limit)).map(entriesTable.itemOf);
  }

  async people(query: PeopleQuery): Promise<PeoplePage> {
    const given = { low: 1, high: (query.before ?? Number.MAX_SAFE_INTEGER) - 1 };
    const { sql, values } = peopleSelect(query, lookedAtIn(query, await this.#byTime(query, given)));
    return peoplePage(await this.#db.select(sql, ...values), query);
  }

  async runsOfUser(query: UserRunsQuery): Promise<UserRunsPage> {
    const given = { low: 1, high: (query.before ?? Number.MAX_SAFE_INTEGER) - 1 };
    const { sql, values } = userRunsSelect(query, lookedAtIn(query, await this.#byTime(query, given)));
    return userRunsPage(await this.#db.select(sql, ...values), query);
  }

  async #read(query: AuditQuery, newestFirst: boolean): Promise<AuditPage> {
    const { stretch, next } = await this.#stretch(query, newestFirst);
    const { sql, values } = auditSelect(query, newestFirst, stretch);
    const rows = await this.#db.select(withinPage(sql, newestFirst), ...values, query.limit + 1);
    const page = new EntryPage(query.limit, Buffer.byteLength);
    for (const row of rows) if (!page.offer(entriesTable.itemOf(row))) return page.finish();
    const last = page.entries.at(-1);
    const found = rows[0] === undefined ? 0 : numberIn(rows[0], 'found');
    return found > rows.length && last !== undefined ? { entries: page.entries, next: last.seq } : page.finish(next);
  }

  /** The stretch of the log that can hold the answer, and the start of the next page if this one ends early. */
  async #stretch(query: AuditQuery, newestFirst: boolean): Promise<{ stretch: Stretch; next: number | null }> {
    const given = { low: (query.after ?? 0) + 1, high: (query.before ?? Number.MAX_SAFE_INTEGER) - 1 };
    const { low, high } = await this.#byTime(query, given);
    if (query.q === undefined) return { stretch: { low, high }, next: null };
    const [ends] = await this.#db.all('SELECT (SELECT min(seq) FROM audit) AS oldest, seq AS newest FROM chain');
    const first = Math.max(low, Number(ends?.['oldest'] ?? 1));
    const last = Math.min(high, Number(ends?.['newest'] ?? 0));
    if (last - first < mostSearched) return { stretch: { low: first, high: last }, next: null };
    return newestFirst
      ? { stretch: { low: last - mostSearched + 1, high: last }, next: last - mostSearched + 1 }
      : { stretch: { low: first, high: first + mostSearched - 1 }, next: first + mostSearched - 1 };
  }

  async #byTime({ from, to }: Pick<AuditQuery, 'from' | 'to'>, given: Stretch): Promise<Stretch> {
    if (from === undefined && to === undefined) return given;
    const conditions: string[] = [];
    const values: SqlValue[] = [];
    const bound = (select: string, condition: string, time: number | undefined) => {
      conditions.push(time === undefined ? 'NULL' : `(SELECT ${select} FROM audit_times WHERE ${condition})`);
      if (time !== undefined) values.push(time);
    };
    bound('min(block)', 'max_at >= ?', from);
    bound('max(block)', 'min_at < ?', to);
    const [row] = await this.#db.all(`SELECT ${conditions[0]} AS first, ${conditions[1]} AS last`, ...values);
    const size = 2 ** blockBits;
    const first = row?.['first'];
    const last = row?.['last'];
    const low = from === undefined ? 0 : typeof first === 'number' ? first * size : Number.MAX_SAFE_INTEGER;
    const high = to === undefined ? Number.MAX_SAFE_INTEGER : typeof last === 'number' ? (last + 1) * size - 1 : 0;
    return { low: Math.max(given.low, low), high: Math.min(given.high, high) };
  }
}

/** The entries for a query of `seq` and `size`, as many as fit on a page; `found` is how many there were. */
function withinPage(found: string, newestFirst = false): string {
  const order = newestFirst ? 'DESC' : 'ASC';
  return `WITH page AS MATERIALIZED (${found}),
    summed AS (SELECT seq, size, sum(size) OVER (ORDER BY seq ${order}) AS bytes FROM page)
    SELECT seq, hash, canonical, (SELECT count(*) FROM page) AS found FROM summed JOIN audit USING (seq)
      WHERE bytes <= ${mostBytesOfPage} OR bytes = size ORDER BY seq ${order}`;
}
