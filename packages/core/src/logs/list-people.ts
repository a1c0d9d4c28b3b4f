import type { Principal } from '../access/index.ts';
import { narrowedTo, requireScope } from '../access/index.ts';
import type { PeoplePage, PeopleQuery, PeopleReader } from '../audit/index.ts';
import type { EpochMs } from '../kernel/index.ts';

/** How many entries one page looks at. */
const mostLookedAt = 20_000;

export type PeopleFilter = Omit<PeopleQuery, 'most' | 'before' | 'lastBefore'>;

/** Where a list of people goes on. */
export type PeoplePlace = Readonly<Required<Pick<PeopleQuery, 'before' | 'lastBefore'>>>;

export interface ListedPeople {
  readonly people: PeoplePage['people'];
  readonly next: PeoplePlace | null;
  /** The time of the oldest entry that was looked at. Null if none is older. */
  readonly since: EpochMs | null;
}

/**
 * For whom agents acted, as far as the caller may see it. A page looks at a bounded number of entries, newest first.
 * Once it has told of everybody in them, the next page looks at older ones: a person may come again there.
 */
export async function listPeople(
  log: PeopleReader,
  by: Principal,
  { orgId, teamId, ...filter }: PeopleFilter,
  place: PeoplePlace,
): Promise<ListedPeople> {
  requireScope(by, 'read');
  const within = narrowedTo(by, { orgId, teamId });
  if (within === 'nothing') return { people: [], next: null, since: null };
  const { people, next, oldest } = await log.people({ ...filter, ...within, ...place, most: mostLookedAt });
  return { people, next: placeAfter(place, next, oldest?.seq ?? null), since: oldest?.at ?? null };
}

function placeAfter({ before }: PeoplePlace, next: number | null, oldest: number | null): PeoplePlace | null {
  if (next !== null) return { before, lastBefore: next };
  return oldest === null ? null : { before: oldest, lastBefore: oldest };
}
