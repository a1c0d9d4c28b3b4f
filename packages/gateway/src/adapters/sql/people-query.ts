import type { Bounds, Part } from './audit-query.ts';
import type { LookedAt, Sql } from './people-select.ts';
import { lookedAtColumns } from './people-select.ts';

/** A stretch of the log of which so many entries are looked at, newest first. */
export interface LookedAtPart extends Part {
  readonly most: number;
}

/**
 * The entries that a query for people looks at: those that are not indexed yet one by one, and of the others those of the
 * org or of the user, by the index. Never more than the query allows. The org comes first: how far a page reaches must not
 * tell when somebody acted in another one.
 */
export function lookedAtIn(query: LookedAt, { low, high, indexed }: Bounds): readonly LookedAtPart[] {
  const { most } = query;
  const stretch = (from: number) => ({ index: undefined, low: Math.max(from, high - most + 1), high, most });
  const tail = stretch(Math.max(low, indexed + 1));
  const end = Math.min(high, indexed);
  const left = most - Math.max(0, high - Math.max(low - 1, indexed));
  if (left <= 0 || end < low) return [tail];
  const index = indexFor(query);
  return index === undefined ? [stretch(low)] : [tail, { index, low, high: end, most: left }];
}

/** Selects those of them that are rows of a stretch. `lookAt` has put the others into a table. */
export function lookedAtSql(parts: readonly LookedAtPart[], packed: number): Sql {
  const stretches = parts.filter(({ index }) => index === undefined);
  const rows = `SELECT ${lookedAtColumns} FROM main.audit a WHERE a.seq BETWEEN ? AND ?`;
  return {
    sql: [...stretches.map(() => rows), `SELECT ${lookedAtColumns} FROM temp.looked_at a`].join(' UNION ALL '),
    values: stretches.flatMap(({ low, high }) => [Math.max(low, packed + 1), high]),
  };
}

function indexFor({ user, orgId }: LookedAt): Part['index'] {
  if (orgId !== undefined) return { kind: 'org', value: orgId };
  return user === undefined ? undefined : { kind: 'user', value: user.toLowerCase() };
}
