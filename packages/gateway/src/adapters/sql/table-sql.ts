import type { Column, Prune, Push, Reading, RowCondition, Table } from '@reeve/core';
import type { SqlValue } from './sql-database.ts';

export interface NamedColumn extends Column<unknown> {
  readonly name: string;
}

/** All columns, those of the key first. */
export function columnsOf({ key, columns }: Table): readonly NamedColumn[] {
  return Object.entries({ ...key, ...columns }).map(([name, column]) => ({ ...column, name }));
}

/** The columns that are written again if the key already exists. */
export function changingColumns(table: Table): readonly string[] {
  const columns = Object.entries(table.columns).filter(([, column]) => column.isFixed !== true);
  return columns.map(([name]) => name);
}

/** The place of a row, counted by the database. */
export function placeSql(table: Table, { name, placeIn = '' }: NamedColumn): string {
  return `${newestPlace(placeIn, name)}${placeIn === table.name ? ' + 1' : ''}`;
}

function newestPlace(table: string, column: string): string {
  return `(SELECT COALESCE(MAX(${column}), 0) FROM ${table})`;
}

/** The row that a statement inserts. The caller says how. */
export function rowSql(table: Table): string {
  const columns = columnsOf(table);
  const values = columns.map((column) => (column.placeIn === undefined ? '?' : placeSql(table, column)));
  return `INTO ${table.name} (${columns.map(({ name }) => name).join(', ')}) VALUES (${values.join(', ')})`;
}

/** Inserts a row, or changes the one with the same key. It keeps its fixed columns. */
export function upsertSql(table: Table): string {
  const changed = changingColumns(table).map((column) => `${column} = excluded.${column}`);
  return `INSERT ${rowSql(table)} ON CONFLICT (${Object.keys(table.key).join(', ')}) DO UPDATE SET ${changed.join(', ')}`;
}

/** Drops rows whose place is no longer among the newest of `pushed`. */
export function dropPlacesSql(table: Table, { table: pushed, kept }: Push): string {
  const column = columnsOf(table).find(({ placeIn }) => placeIn === pushed.name)?.name ?? '';
  return `DELETE FROM ${table.name} WHERE ${column} <= ${newestPlace(pushed.name, column)} - ${kept}`;
}

/** The rows that a start reads. */
export function readingSql({ table, where, newest, latest }: Reading<unknown>): string {
  const names = columnsOf(table).map(({ name }) => name);
  const from = `SELECT ${names.join(', ')} FROM ${table.name}`;
  const conditions = where.map(conditionSql);
  if (newest !== undefined) {
    const order = newest.by.map((column) => `${column} DESC`).join(', ');
    return `${from}${whereSql(conditions)} ORDER BY ${order} LIMIT ${newest.most}`;
  }
  if (latest !== undefined) {
    const others = Object.keys(table.key).filter((column) => column !== latest);
    const greatest = `SELECT ${others.join(', ')}, MAX(${latest}) FROM ${table.name} GROUP BY ${others.join(', ')}`;
    conditions.push(`(${others.join(', ')}, ${latest}) IN (${greatest})`);
    return `${from}${whereSql(conditions)} ORDER BY ${others.join(', ')}`;
  }
  return `${from}${whereSql(conditions)}`;
}

/** Retention, in SQL that every database takes. */
export function pruneSql({ table, where, most, order = [], beyond, unlessIn }: Prune): string {
  const conditions = where.map(conditionSql);
  if (most === undefined) return `DELETE FROM ${table.name}${whereSql(conditions)}`;
  if (unlessIn !== undefined) {
    const same = Object.keys(unlessIn.key).map((column) => `other.${column} = old.${column}`);
    conditions.push(`NOT EXISTS (SELECT 1 FROM ${unlessIn.name} AS other${whereSql(same)})`);
  }
  const key = Object.keys(table.key).join(', ');
  const sorted = order.map((column) => (beyond === undefined ? column : `${column} DESC`)).join(', ');
  return `DELETE FROM ${table.name} WHERE (${key}) IN (
    SELECT ${key} FROM ${table.name} AS old${whereSql(conditions)}
    ORDER BY ${sorted} LIMIT ?${beyond === undefined ? '' : ' OFFSET ?'})`;
}

export function pruneValues({ where, most, beyond }: Prune): SqlValue[] {
  const values: SqlValue[] = where.flatMap((condition) => ('value' in condition ? [condition.value] : []));
  if (most !== undefined) values.push(most);
  if (beyond !== undefined) values.push(beyond);
  return values;
}

/** Flags are literals in the text: otherwise databases do not use the partial indexes over them. */
function conditionSql(condition: RowCondition): string {
  if ('value' in condition) return `${condition.column} ${condition.is} ?`;
  return `${condition.column} = ${condition.is === 'on' ? 1 : 0}`;
}

function whereSql(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
}
