import type { Row } from '@reeve/core';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { ReeveError } from '@reeve/core';
import type { SqliteOptions } from './open-sqlite.ts';
import { openSqlite } from './open-sqlite.ts';
import type { SqlDatabase, SqlSession, SqlValue } from './sql-database.ts';
import { SqliteStatements } from './sqlite-statements.ts';
import { SqliteTransaction } from './sqlite-transaction.ts';

/** How long to wait, and how often to retry, while another process writes. */
const busyForMs = 5000;
const busyEveryMs = 10;

/** How long transactions may follow one another before decisions get their turn. */
const sliceMs = 5;

/**
 * The file of the embedded store as a database. The store writes to the same file from the same thread, at the end of a
 * turn of the event loop as a rule. So statements run synchronously, one transaction after the other, and none
 * lasts into another turn. Reads outside of transactions have their own connection and see only what is committed. The
 * store makes the tables: open it first.
 */
export class SqliteDatabase implements SqlDatabase {
  readonly #writer: SqliteStatements;
  readonly #reader: SqliteStatements;
  readonly #busyForMs: number;
  #last: Promise<unknown> = Promise.resolve();
  #sliceEnds: number | undefined;
  #closed = false;

  constructor(options: SqliteOptions & { readonly busyForMs?: number }) {
    this.#busyForMs = options.busyForMs ?? busyForMs;
    // The store alone truncates the write-ahead log: a little at a time, which this connection would not know.
    this.#writer = new SqliteStatements(openSqlite(options, (db) => db.exec('PRAGMA journal_size_limit = -1')));
    this.#reader = new SqliteStatements(openSqlite(options, (db) => db.exec('PRAGMA query_only = ON')));
  }

  all(sql: string, ...values: readonly SqlValue[]): Promise<readonly Row[]> {
    return settled(() => this.#reader.all(sql, values));
  }

  run(sql: string, ...values: readonly SqlValue[]): Promise<number> {
    return this.transaction([], (session) => session.run(sql, ...values));
  }

  /** A file has one writer, so all transactions share one lock. */
  transaction<Result>(_locks: readonly string[], work: (sql: SqlSession) => Promise<Result>): Promise<Result> {
    if (this.#closed) return Promise.reject(closed());
    const result = this.#last.then(() => this.#run(work));
    this.#last = result.then(
      () => this.#leaveRoom(),
      () => this.#leaveRoom(),
    );
    return result;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#last;
    this.#reader.close();
    this.#writer.close();
  }

  async #run<Result>(work: (sql: SqlSession) => Promise<Result>): Promise<Result> {
    await this.#begin();
    return new SqliteTransaction(this.#writer).run(work);
  }

  async #begin(): Promise<void> {
    const from = performance.now();
    while (!this.#writer.begin()) {
      if (performance.now() - from > this.#busyForMs) {
        throw new ReeveError('store_unavailable', 'another process keeps the store of accounts locked');
      }
      await setTimeout(busyEveryMs);
    }
  }

  /** Waiting transactions run in one turn of the event loop, but no longer than one slice. */
  async #leaveRoom(): Promise<void> {
    const now = performance.now();
    if (this.#sliceEnds === undefined) {
      this.#sliceEnds = now + sliceMs;
      void setImmediate().then(() => (this.#sliceEnds = undefined));
    }
    if (now > this.#sliceEnds) await setImmediate();
  }
}

/** The result or error of `work`, as a promise that is already settled. */
async function settled<Result>(work: () => Result): Promise<Result> {
  return work();
}

function closed(): ReeveError {
  return new ReeveError('store_unavailable', 'the store of accounts is closed');
}
