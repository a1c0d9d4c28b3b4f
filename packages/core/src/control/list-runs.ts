import type { Principal } from '../access/index.ts';
import { narrowedTo, requireScope } from '../access/index.ts';
import type { Total } from '../kernel/index.ts';
import type { Label, Run } from '../runs/index.ts';
import { keyOfPlace } from '../runs/index.ts';
import type { TenantFilter } from '../tenancy/index.ts';
import type { Controls } from './controls.ts';
import type { ListPage, ListPlace } from './newest-first.ts';
import { newestFirst } from './newest-first.ts';
import type { UserRuns } from './user-runs.ts';

/** Held: somebody has paused or terminated the run. Ended: nothing of it is under way. */
export type RunState = 'active' | 'held' | 'ended';

/** A run as people see it. */
export interface ShownRun {
  readonly run: Run;
  readonly state: RunState;
  readonly labels: readonly Label[];
}

export interface RunFilter extends TenantFilter {
  readonly agentId?: string | undefined;
  readonly label?: string | undefined;
  readonly state?: RunState | undefined;
  readonly leastCostMicros?: Total | undefined;
  readonly mostCostMicros?: Total | undefined;
  /** Only runs in which agents acted for a user. */
  readonly ofUser?: UserRuns | undefined;
}

export interface RunPage extends Omit<ListPage<Run>, 'items'> {
  readonly runs: readonly ShownRun[];
}

/** The runs that are remembered and that the caller may see, those that began last first, in steps between decisions. */
export function* listRuns(
  gov: Controls,
  by: Principal,
  filter: RunFilter,
  page: { readonly before?: ListPlace | undefined; readonly limit: number },
): Generator<void, RunPage> {
  requireScope(by, 'read');
  const within = narrowedTo(by, filter);
  if (within === 'nothing') return { runs: [], next: null, total: 0 };
  const wanted = { ...filter, ...within };
  const { items, ...rest } = yield* newestFirst(
    [...gov.runs.all()],
    (run) => fits(gov, run, wanted),
    { at: ({ startedAt }) => startedAt, id: (run) => idInList(gov, run) },
    page,
  );
  return { runs: items.map((run) => showRun(gov, run)), ...rest };
}

export function showRun(gov: Controls, run: Run): ShownRun {
  return { run, state: stateOf(gov, run), labels: gov.runs.labels.of({ of: 'run', place: run.place }) };
}

export function placeInList(gov: Pick<Controls, 'sha256'>, run: Run): ListPlace {
  return { at: run.startedAt, id: idInList(gov, run) };
}

/** A name may be long, so that its digest stands for it. */
function idInList({ sha256 }: Pick<Controls, 'sha256'>, { name }: Run): string {
  return sha256(name).slice(0, 32);
}

function stateOf({ control }: Controls, { place, agents, underWay }: Run): RunState {
  const { orgId, teamId, runId } = place;
  const ids = [...agents.map(({ agentId }) => agentId), place.agentId];
  const isHeld =
    runId !== '' && ids.some((agentId) => control.runs.over({ orgId, teamId, agentId }, runId) !== undefined);
  if (isHeld) return 'held';
  return underWay > 0 ? 'active' : 'ended';
}

function fits(gov: Controls, run: Run, filter: RunFilter): boolean {
  const { orgId, teamId, agentId, label, state, leastCostMicros: least, mostCostMicros: most, ofUser } = filter;
  const { place, agents, costMicros } = run;
  if (orgId !== undefined && orgId !== place.orgId) return false;
  if (teamId !== undefined && teamId !== place.teamId) return false;
  if (agentId !== undefined && agentId !== place.agentId && agents.every((each) => each.agentId !== agentId))
    return false;
  if ((least !== undefined && costMicros < least) || (most !== undefined && costMicros > most)) return false;
  // What happened in a forgotten run of the same id is no part of this one.
  if (ofUser !== undefined && (ofUser.get(keyOfPlace(place)) ?? -1) < run.startedAt) return false;
  if (label !== undefined && gov.runs.labels.of({ of: 'run', place }).every(({ name }) => name !== label)) return false;
  return state === undefined || stateOf(gov, run) === state;
}
