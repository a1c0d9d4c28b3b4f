import type { LookedAt, Sql } from '../sql/people-select.ts';
import { lookedAtColumns } from '../sql/people-select.ts';
import type { Stretch } from './audit-select.ts';

/**
 * The entries that a query for people looks at, newest first: those of the org or of the user, by the index, and else
 * all. Never more than the query allows. The org comes first: how far a page reaches must not tell when somebody acted in
 * another one.
 */
export function lookedAtIn({ user, orgId, most }: LookedAt, { low, high }: Stretch): Sql {
  const newest = (condition: string, value: string): Sql => ({
    sql: `SELECT ${lookedAtColumns} FROM audit a WHERE ${condition} AND -a.seq BETWEEN ? AND ? ORDER BY -a.seq LIMIT ?`,
    values: [value, -high, -low, most],
  });
  if (orgId !== undefined) return newest('a.org_id = ?', orgId);
  if (user !== undefined) {
    const halves = [newest('a.user_sub = ?', user), newest('a.user_email = ?', user.toLowerCase())];
    const sql = `SELECT * FROM (${halves.map((half) => `(${half.sql})`).join(' UNION ')}) AS either
      ORDER BY seq DESC LIMIT ?`;
    return { sql, values: [...halves.flatMap(({ values }) => values), most] };
  }
  return {
    sql: `SELECT ${lookedAtColumns} FROM audit a WHERE a.seq BETWEEN ? AND ? ORDER BY a.seq DESC LIMIT ?`,
    values: [low, high, most],
  };
}
