import type { Approval, ApprovalQuery, ApprovalReader, Found, GrantQuery, StandingGrant } from '@reeve/core';
import type { ListSelect } from './approval-rows.ts';
import { approvalOf, approvalsSelect, grantOf, grantsSelect } from './approval-rows.ts';
import type { SqlSession } from './sql-database.ts';
import type { Row } from './sqlite-rows.ts';
import { number } from './sqlite-rows.ts';

/** Reads what a database keeps of approvals. Writing is the store's, with all else that a turn makes durable. */
export class SqlApprovals implements ApprovalReader {
  readonly #sql: Pick<SqlSession, 'all'>;
  readonly #seat: () => number | undefined;

  /** `seat`: of the gateway whose approvals they are, where several share the database. */
  constructor(sql: Pick<SqlSession, 'all'>, seat: () => number | undefined = () => undefined) {
    this.#sql = sql;
    this.#seat = seat;
  }

  approval(id: string): Promise<Approval | undefined> {
    return this.#one('approvals', id, approvalOf);
  }

  approvals(query: ApprovalQuery): Promise<Found<Approval>> {
    return this.#list(approvalsSelect(query, this.#seat()), approvalOf);
  }

  grant(id: string): Promise<StandingGrant | undefined> {
    return this.#one('standing_grants', id, grantOf);
  }

  grants(query: GrantQuery): Promise<Found<StandingGrant>> {
    return this.#list(grantsSelect(query, this.#seat()), grantOf);
  }

  async #one<Item>(table: string, id: string, itemOf: (row: Row) => Item): Promise<Item | undefined> {
    const seat = this.#seat();
    const sql = `SELECT record FROM ${table} WHERE id = ?`;
    const rows =
      seat === undefined ? await this.#sql.all(sql, id) : await this.#sql.all(`${sql} AND seat = ?`, id, seat);
    return rows.map(itemOf)[0];
  }

  async #list<Item>({ page, total }: ListSelect, itemOf: (row: Row) => Item): Promise<Found<Item>> {
    const rows = await this.#sql.all(page.sql, ...page.values);
    const [counted = {}] = await this.#sql.all(total.sql, ...total.values);
    const found = rows[0] === undefined ? 0 : number(rows[0], 'found');
    return { items: rows.map(itemOf), total: number(counted, 'count'), cut: found > rows.length };
  }
}
