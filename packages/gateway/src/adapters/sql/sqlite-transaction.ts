import type { Row } from '@reeve/core';
import { nextTick } from 'node:process';
import type { SqlSession, SqlValue } from './sql-database.ts';
import type { SqliteStatements } from './sqlite-statements.ts';

/**
 * A transaction that must end within this turn of the event loop. Create it in a microtask: Node runs the next tick
 * once no microtask is left, so work that has not ended by then waits for something other than its statements. It is
 * stopped before another writer to the file meets its lock.
 */
export class SqliteTransaction {
  readonly #db: SqliteStatements;
  /** Why the transaction takes no more statements. */
  #over: unknown;

  constructor(db: SqliteStatements) {
    this.#db = db;
  }

  run<Result>(work: (sql: SqlSession) => Promise<Result>): Promise<Result> {
    const guard = Promise.withResolvers<never>();
    nextTick(() => {
      if (this.#over !== undefined) return;
      this.#end(new Error('a transaction waited for something else than its rows, and was taken back'));
      guard.reject(this.#over);
    });
    return Promise.race([this.#finish(work), guard.promise]);
  }

  async #finish<Result>(work: (sql: SqlSession) => Promise<Result>): Promise<Result> {
    try {
      const result = await work({
        all: async (sql: string, ...values: readonly SqlValue[]): Promise<readonly Row[]> =>
          this.#try(() => this.#db.all(sql, values)),
        run: async (sql: string, ...values: readonly SqlValue[]): Promise<number> =>
          this.#try(() => this.#db.run(sql, values)),
      });
      this.#try(() => this.#db.commit());
      return result;
    } finally {
      this.#end(new Error('the transaction is over'));
    }
  }

  /** A failed statement ends the transaction, even if nobody looks at the failure. */
  #try<Result>(statement: () => Result): Result {
    if (this.#over !== undefined) throw this.#over;
    try {
      return statement();
    } catch (error) {
      this.#end(error);
      throw error;
    }
  }

  /** Only once: later, the connection belongs to another transaction. */
  #end(why: unknown): void {
    if (this.#over !== undefined) return;
    this.#over = why;
    this.#db.rollBack();
  }
}
