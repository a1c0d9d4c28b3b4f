import type { Row } from '@reeve/core';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { ReeveError } from '@reeve/core';
import { isBusy, resultOf } from './open-sqlite.ts';
import type { SqlValue } from './sql-database.ts';

/** Result codes of SQLite that mean the file cannot be written or read now, whatever the statement was. */
const unavailable: ReadonlySet<number> = new Set([
  3, // not permitted
  5, // busy
  6, // locked
  7, // out of memory
  8, // read-only
  10, // the disk failed
  11, // damaged
  13, // full
  14, // cannot be opened
  15, // the locking protocol failed
  26, // not a database
]);

/** One connection with its prepared statements. It throws `store_unavailable` if the file is the problem. */
export class SqliteStatements {
  readonly #db: DatabaseSync;
  readonly #prepared = new Map<string, StatementSync>();

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  all(sql: string, values: readonly SqlValue[]): Row[] {
    return this.#try(() => this.#prepare(sql).all(...values));
  }

  run(sql: string, values: readonly SqlValue[] = []): number {
    return this.#try(() => Number(this.#prepare(sql).run(...values).changes));
  }

  /** Begins a write transaction; false if another connection is writing. */
  begin(): boolean {
    try {
      this.#prepare('BEGIN IMMEDIATE').run();
      return true;
    } catch (error) {
      if (isBusy(error)) return false;
      throw explain(error);
    }
  }

  commit(): void {
    this.run('COMMIT');
  }

  /** SQLite rolls some transactions back by itself, for example when the disk is full. */
  rollBack(): void {
    if (this.#db.isOpen && this.#db.isTransaction) this.run('ROLLBACK');
  }

  close(): void {
    this.#prepared.clear();
    this.#db.close();
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#prepared.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql);
      this.#prepared.set(sql, statement);
    }
    return statement;
  }

  #try<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      throw explain(error);
    }
  }
}

/** The caller learns only that the store fails; the gateway's log gets the cause, too. */
function explain(error: unknown): unknown {
  const isClosed = error instanceof Error && 'code' in error && error.code === 'ERR_INVALID_STATE';
  if (!isClosed && !unavailable.has(resultOf(error))) return error;
  const failure = new ReeveError('store_unavailable', 'the store of accounts cannot be read or written');
  failure.cause = error;
  return failure;
}
