import type { Row, UserRunsPage, UserRunsQuery } from '@reeve/core';
import { numberIn, optionalNumberIn, textIn } from '@reeve/core';
import type { Sql } from './people-select.ts';
import { narrowed } from './people-select.ts';

/**
 * The runs in a bounded number of entries, which `lookedAt` selects: one row for each, and at least one row, which says how
 * far the search came. SQLite and PostgreSQL both understand it.
 */
export function userRunsSelect(query: UserRunsQuery, lookedAt: Sql): Sql {
  const wanted = narrowed(query);
  const sql = `
    WITH looked_at AS MATERIALIZED (${lookedAt.sql}),
    found AS (SELECT run, max(at) AS last_at FROM looked_at WHERE run IS NOT NULL ${wanted.sql} GROUP BY run),
    reach AS (SELECT count(*) AS reached, min(seq) AS oldest FROM looked_at)
    SELECT reach.reached, reach.oldest, found.run, found.last_at FROM reach LEFT JOIN found ON 1 = 1`;
  return { sql, values: [...lookedAt.values, ...wanted.values] };
}

/** The page that the rows of `userRunsSelect` tell of. `isCut`: fewer entries were looked at than the query allows. */
export function userRunsPage(rows: readonly Row[], { most }: UserRunsQuery, isCut = false): UserRunsPage {
  const [first] = rows;
  const isAll = first === undefined || (numberIn(first, 'reached') < most && !isCut);
  const runs = rows.flatMap((row) => {
    const lastAt = optionalNumberIn(row, 'last_at');
    return lastAt === null ? [] : [{ run: textIn(row, 'run'), lastAt }];
  });
  return { runs, next: isAll ? null : numberIn(first, 'oldest') };
}
