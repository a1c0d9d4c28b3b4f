import type { Row, Value } from '@reeve/core';

export type SqlValue = Value;

/** Portable SQL with `?` for values, for any database. */
export interface SqlSession {
  all(sql: string, ...values: readonly SqlValue[]): Promise<readonly Row[]>;
  /** Returns how many rows it changed. */
  run(sql: string, ...values: readonly SqlValue[]): Promise<number>;
}

/** A database is a session, too: each statement is its own transaction. */
export interface SqlDatabase extends SqlSession {
  /**
   * Runs `work` and keeps all of its changes or none. Transactions with a common lock run one after the other, across
   * processes. `work` may await its session only.
   */
  transaction<Result>(locks: readonly string[], work: (sql: SqlSession) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

/** Whether a statement was refused because of a unique key, as each driver reports it. */
export function isDuplicate(error: unknown): boolean {
  const { code, errcode } = (error instanceof Error ? error : {}) as { code?: unknown; errcode?: unknown };
  return code === '23505' || errcode === 2067;
}
