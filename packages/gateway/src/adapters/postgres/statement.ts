import type { SqlValue } from '../sql/sql-database.ts';
import { storable } from './nul-text.ts';

/** A statement that a connection prepares once and remembers by its name. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  readonly values: (string | number | null)[];
}

/** Values as the literal of an array, which a statement takes apart again with `unnest`. */
export function arrayOf(values: readonly SqlValue[]): string {
  return `{${values.map(element).join(',')}}`;
}

/** The same for texts of canonical JSON: they hold no control characters, so JSON's escapes are PostgreSQL's, too. */
export function arrayOfJson(texts: readonly string[]): string {
  return `{${texts.map((text) => JSON.stringify(text)).join(',')}}`;
}

function element(value: SqlValue): string {
  if (value === null) return 'NULL';
  if (typeof value === 'number') return String(value);
  const text = storable(value);
  return `"${/["\\]/.test(text) ? text.replaceAll(/["\\]/g, '\\$&') : text}"`;
}
