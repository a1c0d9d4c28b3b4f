import type { AgentId, EpochMs } from '../kernel/index.ts';
import type { Decision } from './entry.ts';

/** For whom agents acted. Absent members do not narrow. */
export interface PeopleQuery {
  readonly orgId?: string;
  readonly teamId?: string;
  /** The `sub` of a user, to the letter, or the email in any letter case. */
  readonly user?: string;
  readonly from?: EpochMs;
  readonly to?: EpochMs;
  /** Only entries before this one. It stays while the people of the same entries are listed, page by page. */
  readonly before?: number;
  /** Only people whose newest entry is before this one: where the last page ended. */
  readonly lastBefore?: number;
  /** How many people a page has. */
  readonly limit: number;
  /** How many entries are looked at, newest first. That is all that a query costs, however long the log is. */
  readonly most: number;
}

/** A user for whom agents acted, as far as the entries that were looked at say. */
export interface SeenPerson {
  readonly issuer: string;
  readonly sub: string;
  /** In lower case, of the newest entry. Empty if there is none. */
  readonly email: string;
  readonly lastAt: EpochMs;
  readonly lastSeq: number;
  /** How often it was decided so. Answers that were given again do not count. */
  readonly counts: Readonly<Record<Decision, number>>;
  /** Those that acted last, the last first. */
  readonly agents: readonly AgentId[];
  readonly agentCount: number;
}

/** People, who was seen last comes first. */
export interface PeoplePage {
  readonly people: readonly SeenPerson[];
  /** Continue with those whose newest entry is before this one. Null if nobody else is in these entries. */
  readonly next: number | null;
  /** The oldest entry that was looked at. Null if none is older, of those that the query asks for. */
  readonly oldest: { readonly seq: number; readonly at: EpochMs } | null;
}

/** In which runs agents acted for a user. It looks at the entries of the org, or else at those of the user. */
export type UserRunsQuery = Pick<PeopleQuery, 'orgId' | 'teamId' | 'from' | 'before' | 'most'> & {
  readonly user: string;
};

/** Runs by their keys, each with the time of the last decision for the user, as far as the entries looked at say. */
export interface UserRunsPage {
  readonly runs: readonly { readonly run: string; readonly lastAt: EpochMs }[];
  /** Continue before this entry. Null if no older one is left. */
  readonly next: number | null;
}

export interface PeopleReader {
  people(query: PeopleQuery): Promise<PeoplePage>;
  runsOfUser(query: UserRunsQuery): Promise<UserRunsPage>;
}

/** How many agents of a person are named. */
export const mostAgentsOfPerson = 5;
