import type { Row } from '@reeve/core';
import { hash } from 'node:crypto';
import type { PoolClient, QueryResult } from 'pg';
import { Pool } from 'pg';
import type { SqlDatabase, SqlSession, SqlValue } from '../sql/sql-database.ts';
import type { ConnectionOptions } from './connection.ts';
import { storable } from './nul-text.ts';
import { explain } from './outage.ts';
import { placeholders } from './placeholders.ts';
import type { Statement } from './statement.ts';
import { arrayOf } from './statement.ts';

const mostConnections = 10;

/** A PostgreSQL database for portable SQL. It throws `store_unavailable` if the server is the problem. */
export class PostgresDatabase implements SqlDatabase {
  readonly #pool: Pool;

  constructor(options: ConnectionOptions) {
    this.#pool = new Pool({ ...options, pipeline: true, max: mostConnections, idleTimeoutMillis: 60_000 });
    // Errors of idle connections: the pool drops these and opens others when needed.
    this.#pool.on('error', () => undefined);
  }

  async all(sql: string, ...values: readonly SqlValue[]): Promise<readonly Row[]> {
    return (await this.#query(statementOf(sql, values))).rows;
  }

  async run(sql: string, ...values: readonly SqlValue[]): Promise<number> {
    return (await this.#query(statementOf(sql, values))).rowCount ?? 0;
  }

  /** Runs SQL that is planned anew each time, because the best plan depends on the values. */
  async select(sql: string, ...values: readonly SqlValue[]): Promise<readonly Row[]> {
    const { text, values: given } = statementOf(sql, values);
    return (await this.#query({ text, values: given })).rows;
  }

  transaction<Result>(locks: readonly string[], work: (sql: SqlSession) => Promise<Result>): Promise<Result> {
    return this.#transaction('BEGIN', locks, work);
  }

  /** Runs `work` on one state of the database, whatever others write in the meantime. */
  snapshot<Result>(work: (sql: SqlSession) => Promise<Result>): Promise<Result> {
    return this.#transaction('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', [], work);
  }

  async close(): Promise<void> {
    if (!this.#pool.ending) await this.#pool.end();
  }

  async #query(statement: Statement | Omit<Statement, 'name'>): Promise<QueryResult<Row>> {
    try {
      return await this.#pool.query<Row>(statement);
    } catch (error) {
      throw explain(error);
    }
  }

  async #transaction<Result>(
    begin: string,
    locks: readonly string[],
    work: (sql: SqlSession) => Promise<Result>,
  ): Promise<Result> {
    const transaction = await Transaction.begin(this.#pool, begin, locks);
    try {
      const result = await work(transaction);
      await transaction.commit();
      return result;
    } finally {
      transaction.end();
    }
  }
}

/** A transaction on its own connection, which returns to the pool only if all went well. */
class Transaction implements SqlSession {
  readonly #client: PoolClient;
  #isOver = false;
  #failure: unknown;

  private constructor(client: PoolClient) {
    this.#client = client;
  }

  static async begin(pool: Pool, begin: string, locks: readonly string[]): Promise<Transaction> {
    const client = await pool.connect().catch((error: unknown) => {
      throw explain(error);
    });
    const transaction = new Transaction(client);
    client.on('error', transaction.#noteFailure);
    try {
      await Promise.all([
        transaction.#query({ text: begin, values: [] }),
        ...(locks.length === 0 ? [] : [transaction.#query(lockStatement(locks))]),
      ]);
      return transaction;
    } catch (error) {
      transaction.end();
      throw error;
    }
  }

  async all(sql: string, ...values: readonly SqlValue[]): Promise<readonly Row[]> {
    return (await this.#query(statementOf(sql, values))).rows;
  }

  async run(sql: string, ...values: readonly SqlValue[]): Promise<number> {
    return (await this.#query(statementOf(sql, values))).rowCount ?? 0;
  }

  /** A failed statement has rolled the transaction back, even if nobody looked at the failure. */
  async commit(): Promise<void> {
    const { command } = await this.#query({ text: 'COMMIT', values: [] });
    if (command !== 'COMMIT') throw this.#failure;
    this.#isOver = true;
  }

  /** A connection with an unfinished transaction is closed, which rolls the transaction back. */
  end(): void {
    this.#client.off('error', this.#noteFailure);
    this.#client.release(!this.#isOver);
    this.#isOver = true;
  }

  readonly #noteFailure = (error: unknown): void => {
    this.#failure ??= explain(error);
  };

  async #query(statement: Statement | Omit<Statement, 'name'>): Promise<QueryResult<Row>> {
    if (this.#isOver) throw new Error('the transaction is over');
    try {
      return await this.#client.query<Row>(statement);
    } catch (error) {
      this.#noteFailure(error);
      throw explain(error);
    }
  }
}

/** Every transaction takes its locks in the same order, so no two wait for each other. */
function lockStatement(locks: readonly string[]): Statement {
  return {
    name: 'locks',
    text: `SELECT pg_advisory_xact_lock(key) FROM (
      SELECT DISTINCT hashtextextended(name, 0) AS key FROM unnest($1::text[]) AS name ORDER BY key) AS sorted`,
    values: [arrayOf(locks)],
  };
}

/**
 * `SELECT *` is not prepared: the prepared statement would fail once a newer release, run by another gateway, adds a
 * column.
 */
function statementOf(sql: string, values: readonly SqlValue[]): Statement {
  return {
    name: sql.includes('SELECT *') ? '' : nameOf(sql),
    text: placeholders(sql),
    values: values.map((value) => (typeof value === 'string' ? storable(value) : value)),
  };
}

/** Reeve has a fixed number of statements, so this cache stays small. */
function nameOf(sql: string): string {
  const known = names.get(sql);
  if (known !== undefined) return known;
  const name = hash('sha256', sql, 'hex').slice(0, 40);
  names.set(sql, name);
  return name;
}

const names = new Map<string, string>();
