import type { AccountRows, AccountStore } from '@reeve/core';
import type { SqlDatabase, SqlSession } from './sql-database.ts';
import { SqlAccountRows } from './sql-account-rows.ts';

export class SqlAccountStore implements AccountStore {
  readonly #db: SqlDatabase;

  constructor(db: SqlDatabase) {
    this.#db = db;
  }

  transaction<Result>(locks: readonly string[], work: (rows: AccountRows) => Promise<Result>): Promise<Result> {
    return this.#db.transaction(locks, (sql) => work(new SqlAccountRows(sql)));
  }

  async read<Result>(work: (rows: AccountRows) => Promise<Result>): Promise<Result> {
    return work(new SqlAccountRows(readOnly(this.#db)));
  }

  close(): Promise<void> {
    return this.#db.close();
  }
}

function readOnly(db: SqlSession): SqlSession {
  const refuse = () => Promise.reject(new Error('rows are changed in a transaction'));
  return {
    all: (sql, ...values) => (sql.startsWith('SELECT ') ? db.all(sql, ...values) : refuse()),
    run: refuse,
  };
}
