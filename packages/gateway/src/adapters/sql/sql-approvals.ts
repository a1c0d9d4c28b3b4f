import type { Approval, ApprovalQuery, ApprovalReader, Found, GrantQuery, Row, StandingGrant } from '@reeve/core';
import { approvalsTable, deciderMark, grantsTable, mostBytesOfPage, numberIn, sortedBy } from '@reeve/core';
import type { SqlSession, SqlValue } from './sql-database.ts';

/** Reads the stored approvals. The store writes them, together with all else that a turn makes durable. */
export class SqlApprovals implements ApprovalReader {
  readonly #sql: Pick<SqlSession, 'all'>;

  constructor(sql: Pick<SqlSession, 'all'>) {
    this.#sql = sql;
  }

  approval(id: string): Promise<Approval | undefined> {
    return this.#one('approvals', id, approvalsTable.itemOf);
  }

  approvals(query: ApprovalQuery): Promise<Found<Approval>> {
    return this.#list(approvalsSelect(query), approvalsTable.itemOf);
  }

  grant(id: string): Promise<StandingGrant | undefined> {
    return this.#one('standing_grants', id, grantsTable.itemOf);
  }

  grants(query: GrantQuery): Promise<Found<StandingGrant>> {
    return this.#list(grantsSelect(query), grantsTable.itemOf);
  }

  async #one<Item>(table: string, id: string, itemOf: (row: Row) => Item): Promise<Item | undefined> {
    return (await this.#sql.all(`SELECT record FROM ${table} WHERE id = ?`, id)).map(itemOf)[0];
  }

  async #list<Item>({ page, total }: ListSelect, itemOf: (row: Row) => Item): Promise<Found<Item>> {
    const rows = await this.#sql.all(page.sql, ...page.values);
    const [counted = {}] = await this.#sql.all(total.sql, ...total.values);
    const found = rows[0] === undefined ? 0 : numberIn(rows[0], 'found');
    return { items: rows.map(itemOf), total: numberIn(counted, 'count'), cut: found > rows.length };
  }
}

/** A query with its values. */
interface Select {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** A page of a list, and the length of the whole list. */
interface ListSelect {
  readonly page: Select;
  readonly total: Select;
}

const columnOf = { expiresAt: 'expires_at', decidedAt: 'decided_at', requestedAt: 'requested_at' } as const;

function approvalsSelect(query: ApprovalQuery): ListSelect {
  const { state, runId, decidedBy, from, to } = query;
  const list = new ListBuilder('approvals', query);
  list.narrow('run_id = ?', runId);
  if (state === 'decided') list.narrow("state IN ('approved', 'rejected') AND decided_at > ?", 0);
  else if (state !== 'all') list.narrow('state = ?', state);
  list.narrow('decided_at >= ?', from);
  list.narrow('decided_at <= ?', to);
  if (decidedBy !== undefined) list.narrow(String.raw`deciders LIKE ? ESCAPE '\'`, containing(deciderMark(decidedBy)));
  return list.finish(columnOf[sortedBy(state)], state === 'open' ? 'ascending' : 'descending');
}

function grantsSelect(query: GrantQuery): ListSelect {
  const { state, now } = query;
  const list = new ListBuilder('standing_grants', query);
  if (state !== 'all') list.narrow('is_revoked = ?', state === 'revoked' ? 1 : 0);
  if (state === 'active') list.narrow('ends_at > ?', now);
  if (state === 'expired') list.narrow('ends_at <= ?', now);
  return list.finish('granted_at', 'descending');
}

/** A pattern of LIKE for texts that contain this one. */
function containing(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
}

class ListBuilder {
  readonly #table: string;
  readonly #query: ApprovalQuery | GrantQuery;
  readonly #conditions: string[] = [];
  readonly #values: SqlValue[] = [];

  constructor(table: string, query: ApprovalQuery | GrantQuery) {
    this.#table = table;
    this.#query = query;
    this.narrow('org_id = ?', query.orgId);
    this.narrow('team_id = ?', query.teamId);
    this.narrow('agent_id = ?', query.agentId);
  }

  narrow(condition: string, value: SqlValue | undefined): void {
    if (value === undefined) return;
    this.#conditions.push(condition);
    this.#values.push(value);
  }

  finish(column: string, direction: 'ascending' | 'descending'): ListSelect {
    const total = { sql: `SELECT COUNT(*) AS count FROM ${this.#table}${this.#where()}`, values: [...this.#values] };
    const [order, beyond] = direction === 'ascending' ? ['ASC', '>'] : ['DESC', '<'];
    const { after, limit } = this.#query;
    if (after !== undefined) {
      this.#conditions.push(`(${column} ${beyond} ? OR (${column} = ? AND id ${beyond} ?))`);
      this.#values.push(after.at, after.at, after.id);
    }
    // Rows beyond the page size are not read; `found` tells that they exist.
    const sql = `WITH page AS (
        SELECT id, ${column} AS place, octet_length(record) AS size FROM ${this.#table}${this.#where()}
          ORDER BY ${column} ${order}, id ${order} LIMIT ?),
      summed AS (SELECT id, place, size, SUM(size) OVER (ORDER BY place ${order}, id ${order}) AS bytes FROM page)
      SELECT record, (SELECT COUNT(*) FROM page) AS found FROM summed JOIN ${this.#table} AS kept ON kept.id = summed.id
        WHERE bytes <= ${mostBytesOfPage} OR bytes = size ORDER BY place ${order}, summed.id ${order}`;
    return { page: { sql, values: [...this.#values, limit] }, total };
  }

  #where(): string {
    return this.#conditions.length === 0 ? '' : ` WHERE ${this.#conditions.join(' AND ')}`;
  }
}
