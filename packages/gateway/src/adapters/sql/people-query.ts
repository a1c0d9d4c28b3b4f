import type { PeopleQuery } from '@reeve/core';
import type { Sql } from './people-select.ts';
import { lookedAtColumns } from './people-select.ts';

/**
 * The entries that a query for people looks at, newest first: those that are not indexed yet one by one, and of the
 * others those of the org or of the user, by the index. Never more than the query allows. The org comes first: how far a
 * page reaches must not tell when somebody acted in another one.
 */
export function lookedAtIn(
  query: PeopleQuery,
  { low, high, indexed }: { readonly low: number; readonly high: number; readonly indexed: number },
): Sql {
  const tail = stretch(Math.max(low, indexed + 1, high - query.most + 1), high);
  const end = Math.min(high, indexed);
  const left = query.most - Math.max(0, high - Math.max(low - 1, indexed));
  if (left <= 0 || end < low) return tail;
  const index = indexFor(query);
  if (index === undefined) return stretch(Math.max(low, high - query.most + 1), high);
  const found = `SELECT ${lookedAtColumns} FROM (
      SELECT seq FROM ix.${index.table} WHERE ${index.column} = ? AND seq BETWEEN ? AND ? ORDER BY seq DESC LIMIT ?
    ) AS x CROSS JOIN main.audit a ON a.seq = x.seq`;
  return { sql: `${tail.sql} UNION ALL ${found}`, values: [...tail.values, index.value, low, end, left] };
}

function stretch(low: number, high: number): Sql {
  return { sql: `SELECT ${lookedAtColumns} FROM main.audit a WHERE a.seq BETWEEN ? AND ?`, values: [low, high] };
}

function indexFor({ user, orgId }: PeopleQuery) {
  if (orgId !== undefined) return { table: 'by_org', column: 'org_id', value: orgId };
  return user === undefined ? undefined : { table: 'by_user', column: 'user', value: user.toLowerCase() };
}
