import type { SqlValue } from '../sql/sql-database.ts';
import { escape, storable } from './nul-text.ts';

/** A statement that a connection prepares once and remembers by its name. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  readonly values: (string | number | null)[];
}

/** Values as an array literal, which a statement unpacks with `unnest`. In a column many are like the one before. */
export function arrayOf(values: readonly SqlValue[]): string {
  let literal = '';
  let last: SqlValue | undefined;
  let written = '';
  for (const value of values) {
    if (value !== last) written = element(value);
    last = value;
    literal += literal === '' ? written : `,${written}`;
  }
  return `{${literal}}`;
}

/** The same for a column that is mostly empty. `unnest` fills up what is shorter than the rest, and null is shortest. */
export function arrayOfSome(values: readonly SqlValue[]): string | null {
  return values.every((value) => value === null) ? null : arrayOf(values);
}

/** What an array literal, or PostgreSQL, cannot hold as it is. */
const special = new RegExp(`["\\\\\\0${escape}]`);

function element(value: SqlValue): string {
  if (value === null) return 'NULL';
  if (typeof value === 'number') return String(value);
  return special.test(value) ? `"${storable(value).replaceAll(/["\\]/g, '\\$&')}"` : `"${value}"`;
}
