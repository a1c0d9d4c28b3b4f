import type { RequestOf } from '../../api/send.ts';
import type { RawSearch } from '../../shell/search.ts';
import { oneOf, text } from '../../shell/search.ts';

/** How far back to look. */
export const periods = { hour: 3_600_000, day: 86_400_000, week: 604_800_000, month: 2_592_000_000 } as const;

type Period = keyof typeof periods;

/** The page state in the URL. */
export interface PeopleSearch {
  readonly org_id?: string | undefined;
  readonly team_id?: string | undefined;
  /** An email or a sub. */
  readonly user?: string | undefined;
  readonly within?: Period | undefined;
  /** The person whose details are open. */
  readonly issuer?: string | undefined;
  readonly sub?: string | undefined;
}

export function parsePeopleSearch(raw: RawSearch): PeopleSearch {
  return {
    org_id: text(raw['org_id']),
    team_id: text(raw['team_id']),
    user: text(raw['user']),
    within: oneOf(['hour', 'day', 'week', 'month'], raw['within']),
    issuer: text(raw['issuer']),
    sub: text(raw['sub']),
  };
}

export type PeopleFilter = Pick<PeopleSearch, 'org_id' | 'team_id' | 'user' | 'within'>;

export function filterOf({ org_id, team_id, user, within }: PeopleSearch): PeopleFilter {
  const given = Object.entries({ org_id, team_id, user, within }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given);
}

/** What the gateway is asked for, at this moment. */
export function queryOf({ within, ...rest }: PeopleFilter, now: number): NonNullable<RequestOf<'listPeople'>['query']> {
  return within === undefined ? rest : { ...rest, from: new Date(now - periods[within]).toISOString() };
}
