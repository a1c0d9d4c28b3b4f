import type { StatementSync } from 'node:sqlite';
import type { Row, Table, Value } from '@reeve/core';
import { changingColumns, columnsOf, rowSql, upsertSql } from './table-sql.ts';

/** The statements that write single rows of one table, each prepared on first use. */
export class SqliteTable {
  readonly #table: Table;
  readonly #prepare: (sql: string) => StatementSync;
  /** How each value of a row is read from its item. The database itself counts places. */
  readonly #given: readonly ((item: unknown) => Value)[];
  readonly #isKey: string;
  #insert: StatementSync | undefined;
  #save: StatementSync | undefined;
  #find: StatementSync | undefined;
  #remove: StatementSync | undefined;

  constructor(table: Table, prepare: (sql: string) => StatementSync) {
    this.#table = table;
    this.#prepare = prepare;
    this.#given = columnsOf(table)
      .filter(({ placeIn }) => placeIn === undefined)
      .map(({ of }) => of);
    this.#isKey = Object.keys(table.key)
      .map((column) => `${column} = ?`)
      .join(' AND ');
  }

  /** Fails if the key is taken. */
  insert(item: unknown): void {
    this.#insert ??= this.#prepare(`INSERT ${rowSql(this.#table)}`);
    this.#insert.run(...this.#valuesOf(item));
  }

  save(item: unknown): void {
    this.#save ??= this.#prepare(this.#saveSql());
    this.#save.run(...this.#valuesOf(item));
  }

  find(key: readonly Value[]): Row | undefined {
    this.#find ??= this.#prepare(`SELECT * FROM ${this.#table.name} WHERE ${this.#isKey}`);
    return this.#find.get(...key);
  }

  remove(key: readonly Value[]): void {
    this.#remove ??= this.#prepare(`DELETE FROM ${this.#table.name} WHERE ${this.#isKey}`);
    this.#remove.run(...key);
  }

  /**
   * Replaces a row in which all but the key may change. That is fastest, and it removes another row with the same
   * unique value, the token of an agent. Other rows keep their fixed columns.
   */
  #saveSql(): string {
    const changing = changingColumns(this.#table);
    const changesAll = changing.length === Object.keys(this.#table.columns).length;
    return changesAll ? `REPLACE ${rowSql(this.#table)}` : upsertSql(this.#table);
  }

  #valuesOf(item: unknown): Value[] {
    return this.#table.valuesOf?.(item) ?? this.#given.map((of) => of(item));
  }
}

/**
 * Reads row by row. The database hands out the values alone, and the row is put together here, which takes half the time:
 * what a start and a replay read are hundreds of thousands of rows.
 */
export function* eachRow(statement: StatementSync, ...values: readonly Value[]): Generator<Row> {
  const names = statement.columns().map(({ name }) => name);
  for (const found of eachValues(statement, ...values)) {
    const row: Record<string, unknown> = {};
    for (let at = 0; at < names.length; at++) row[names[at] ?? ''] = found[at];
    yield row;
  }
}

/** The values of each row, in the order of the columns. */
export function eachValues<Values extends readonly unknown[]>(
  statement: StatementSync,
  ...values: readonly Value[]
): Iterable<Values> {
  statement.setReturnArrays(true);
  return statement.iterate(...values) as Iterable<unknown> as Iterable<Values>;
}
