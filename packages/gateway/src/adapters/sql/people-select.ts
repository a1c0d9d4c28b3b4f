import type { PeoplePage, PeopleQuery, SeenPerson, Row } from '@reeve/core';
import { mostAgentsOfPerson, numberIn, optionalNumberIn, textIn } from '@reeve/core';
import type { SqlValue } from './sql-database.ts';

/** SQL and its values. */
export interface Sql {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** What says which entries are looked at. */
export type LookedAt = Pick<PeopleQuery, 'user' | 'orgId' | 'most'>;

/** What is read of each entry. */
export const lookedAtNames = [
  ...(['seq', 'at', 'org_id', 'team_id', 'agent_id'] as const),
  ...(['decision', 'run', 'user_issuer', 'user_sub', 'user_email'] as const),
];
export const lookedAtColumns = lookedAtNames.map((name) => `a.${name}`).join(', ');

/**
 * Counts the people of a bounded number of entries, which `lookedAt` selects: one row for each agent that a person is
 * told with, and at least one row, which says how far the search came. An answer that is given again has no run, and
 * does not count. SQLite and PostgreSQL both understand it.
 */
export function peopleSelect(query: PeopleQuery, lookedAt: Sql): Sql {
  const wanted = narrowed(query);
  const sql = `
    WITH looked_at AS MATERIALIZED (${lookedAt.sql}),
    seen AS MATERIALIZED (
      SELECT seq, at, decision, COALESCE(org_id, '') AS org_id, team_id, agent_id,
        COALESCE(user_issuer, '') AS issuer, user_sub AS sub, COALESCE(user_email, '') AS email
      FROM looked_at WHERE user_sub IS NOT NULL AND decision IS NOT NULL AND run IS NOT NULL ${wanted.sql}
    ),
    page AS MATERIALIZED (
      SELECT issuer, sub, max(seq) AS last_seq, count(CASE WHEN decision = 'allow' THEN 1 END) AS allowed,
        count(CASE WHEN decision = 'deny' THEN 1 END) AS denied,
        count(CASE WHEN decision = 'pending' THEN 1 END) AS pending
      FROM seen GROUP BY issuer, sub HAVING max(seq) < ? ORDER BY last_seq DESC LIMIT ?
    ),
    acting AS (
      SELECT page.last_seq, seen.org_id, seen.team_id, seen.agent_id,
        row_number() OVER (PARTITION BY page.last_seq ORDER BY max(seen.seq) DESC) AS place,
        count(*) OVER (PARTITION BY page.last_seq) AS agents
      FROM page JOIN seen ON seen.issuer = page.issuer AND seen.sub = page.sub
      GROUP BY page.last_seq, seen.org_id, seen.team_id, seen.agent_id
    ),
    reach AS (SELECT count(*) AS reached, min(seq) AS oldest FROM looked_at)
    SELECT reach.reached, reach.oldest, (SELECT at FROM looked_at WHERE seq = reach.oldest) AS oldest_at,
      page.last_seq, page.issuer, page.sub, page.allowed, page.denied, page.pending, last.at AS last_at, last.email,
      acting.org_id, acting.team_id, acting.agent_id, acting.agents
    FROM reach LEFT JOIN page ON 1 = 1
      LEFT JOIN seen AS last ON last.seq = page.last_seq
      LEFT JOIN acting ON acting.last_seq = page.last_seq AND acting.place <= ${mostAgentsOfPerson}
    ORDER BY page.last_seq DESC, acting.place`;
  const ends = [query.lastBefore ?? Number.MAX_SAFE_INTEGER, query.limit + 1];
  return { sql, values: [...lookedAt.values, ...wanted.values, ...ends] };
}

/** The conditions of a query on the entries that it looks at, each after an AND. */
export function narrowed(query: Pick<PeopleQuery, 'orgId' | 'teamId' | 'user' | 'from' | 'to'>): Sql {
  const conditions: string[] = [];
  const values: SqlValue[] = [];
  const narrow = (condition: string, ...given: (string | number | undefined)[]) => {
    const present = given.filter((value) => value !== undefined);
    if (present.length < given.length) return;
    conditions.push(`AND ${condition}`);
    values.push(...present);
  };
  narrow('org_id = ?', query.orgId);
  narrow('team_id = ?', query.teamId);
  narrow('(user_sub = ? OR user_email = ?)', query.user, query.user?.toLowerCase());
  narrow('at >= ?', query.from);
  narrow('at < ?', query.to);
  return { sql: conditions.join(' '), values };
}

/** The page that the rows of `peopleSelect` tell of. `isCut`: fewer entries were looked at than the query allows. */
export function peoplePage(rows: readonly Row[], { limit, most }: PeopleQuery, isCut = false): PeoplePage {
  const people = new Map<number, SeenPerson & { readonly agents: SeenPerson['agents'][number][] }>();
  for (const row of rows) {
    const lastSeq = optionalNumberIn(row, 'last_seq');
    if (lastSeq === null) continue;
    const person = people.get(lastSeq) ?? personIn(row, lastSeq);
    people.set(lastSeq, person);
    const [orgId, teamId, agentId] = [textIn(row, 'org_id'), textIn(row, 'team_id'), textIn(row, 'agent_id')];
    person.agents.push({ orgId, teamId, agentId });
  }
  const listed = [...people.values()].slice(0, limit);
  const [first] = rows;
  const isAll = first === undefined || (numberIn(first, 'reached') < most && !isCut);
  return {
    people: listed,
    next: people.size > limit ? (listed.at(-1)?.lastSeq ?? null) : null,
    oldest: isAll ? null : { seq: numberIn(first, 'oldest'), at: numberIn(first, 'oldest_at') },
  };
}

function personIn(row: Row, lastSeq: number) {
  return {
    issuer: textIn(row, 'issuer'),
    sub: textIn(row, 'sub'),
    email: textIn(row, 'email'),
    lastAt: numberIn(row, 'last_at'),
    lastSeq,
    counts: {
      allow: numberIn(row, 'allowed'),
      deny: numberIn(row, 'denied'),
      pending: numberIn(row, 'pending'),
    },
    agents: [],
    agentCount: numberIn(row, 'agents'),
  };
}
