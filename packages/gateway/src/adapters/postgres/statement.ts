import type { SqlValue } from '../sql/sql-database.ts';
import { storable } from './nul-text.ts';

/** A statement that a connection prepares once and remembers by its name. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  readonly values: (string | number | null)[];
}

/** Values as an array literal, which a statement unpacks with `unnest`. */
export function arrayOf(values: readonly SqlValue[]): string {
  return `{${values.map(element).join(',')}}`;
}

/** The same for canonical JSON. It holds no control characters, so JSON's escapes are valid in PostgreSQL, too. */
export function arrayOfJson(texts: readonly string[]): string {
  return `{${texts.map((text) => JSON.stringify(text)).join(',')}}`;
}

function element(value: SqlValue): string {
  if (value === null) return 'NULL';
  if (typeof value === 'number') return String(value);
  const text = storable(value);
  return `"${/["\\]/.test(text) ? text.replaceAll(/["\\]/g, '\\$&') : text}"`;
}
