import type { Principal } from '../access/index.ts';
import { narrowedTo, requireScope } from '../access/index.ts';
import type { PeopleReader } from '../audit/index.ts';
import type { EpochMs } from '../kernel/index.ts';
import type { TenantFilter } from '../tenancy/index.ts';
import type { Controls } from './controls.ts';

/** In which runs agents acted for a user, by the keys of their places: when it was decided last. */
export type UserRuns = ReadonlyMap<string, EpochMs>;

/** The runs in a stretch of the log. */
export interface FoundUserRuns {
  readonly runs: UserRuns;
  /** The search goes on before this entry. Null if no older one is left. */
  readonly next: number | null;
}

/** How far one search goes. */
export interface UserRunsSearch {
  /** It begins before this entry. */
  readonly before: number;
  /** Whether nobody waits for the answer any more. */
  readonly hasLeft: () => boolean;
  /** How many entries one step looks at. Other readers of the log come in between. */
  readonly entriesPerStep?: number;
  readonly mostSteps?: number;
}

/**
 * The runs of a user that the caller may see, of those that are remembered. The log names them, however many users a run
 * has: an agent that sends no run ids has one run for everybody. A search looks at a bounded number of entries, newest
 * first, whatever the log has of the user.
 */
export async function findUserRuns(
  { runs }: Pick<Controls, 'runs'>,
  log: PeopleReader,
  by: Principal,
  { user, orgId, teamId }: TenantFilter & { readonly user: string },
  { before, hasLeft, entriesPerStep = 5000, mostSteps = 20 }: UserRunsSearch,
): Promise<FoundUserRuns> {
  requireScope(by, 'read');
  const found = new Map<string, EpochMs>();
  const within = narrowedTo(by, { orgId, teamId });
  const from = within === 'nothing' ? undefined : oldestStart(runs, within);
  if (within === 'nothing' || from === undefined) return { runs: found, next: null };
  let next: number | null = before;
  for (let step = 0; step < mostSteps && next !== null && !hasLeft(); step++) {
    const page = await log.runsOfUser({ ...within, user, from, most: entriesPerStep, before: next });
    for (const { run, lastAt } of page.runs) found.set(run, Math.max(lastAt, found.get(run) ?? 0));
    next = page.next;
  }
  return { runs: found, next };
}

/** When the oldest run began. Those of other tenants do not count: how far a search goes must not tell of them. */
function oldestStart(runs: Controls['runs'], { orgId, teamId }: TenantFilter): EpochMs | undefined {
  let oldest: EpochMs | undefined;
  for (const { place, startedAt } of runs.all()) {
    if (orgId !== undefined && orgId !== place.orgId) continue;
    if (teamId !== undefined && teamId !== place.teamId) continue;
    oldest = Math.min(oldest ?? startedAt, startedAt);
  }
  return oldest;
}
