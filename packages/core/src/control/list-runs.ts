import type { Principal } from '../access/index.ts';
import { narrowedTo, requireScope } from '../access/index.ts';
import type { EpochMs } from '../kernel/index.ts';
import type { Label, Run } from '../runs/index.ts';
import type { TenantFilter } from '../tenancy/index.ts';
import type { Controls } from './controls.ts';

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
}

/** Where a run stands in the list. A name may be long, so that its digest stands for it. */
interface Place {
  readonly at: EpochMs;
  readonly id: string;
}

export interface RunPage {
  readonly runs: readonly ShownRun[];
  /** The place before which the next page starts; null if there is none. */
  readonly next: Place | null;
  readonly total: number;
}

/** How many runs one step looks at: about a millisecond. */
const looksPerStep = 5000;

/** The runs that are remembered and that the caller may see, those that began last first, in steps between decisions. */
export function* listRuns(
  gov: Controls,
  by: Principal,
  filter: RunFilter,
  page: { readonly before?: Place | undefined; readonly limit: number },
): Generator<void, RunPage> {
  requireScope(by, 'read');
  const within = narrowedTo(by, filter);
  const { before, limit } = page;
  let found: Run[] = [];
  let total = 0;
  let looked = 0;
  for (const run of within === 'nothing' ? [] : [...gov.runs.all()]) {
    if (++looked % looksPerStep === 0) yield;
    if (within === 'nothing' || !fits(gov, run, { ...filter, ...within })) continue;
    total++;
    if (before !== undefined && !isNewer(gov, before, run)) continue;
    found.push(run);
    if (found.length > 4 * limit + 1000) found = newest(gov, found, limit + 1);
  }
  const rest = newest(gov, found, limit + 1);
  const runs = rest.slice(0, limit).map((run) => showRun(gov, run));
  const last = rest[limit - 1];
  return { runs, next: rest.length > limit && last !== undefined ? placeInList(gov, last) : null, total };
}

export function showRun(gov: Controls, run: Run): ShownRun {
  return { run, state: stateOf(gov, run), labels: gov.runs.labels.of({ of: 'run', place: run.place }) };
}

export function placeInList({ sha256 }: Pick<Controls, 'sha256'>, { startedAt, name }: Run): Place {
  return { at: startedAt, id: sha256(name).slice(0, 32) };
}

function stateOf({ control }: Controls, { place, agents, underWay }: Run): RunState {
  const { orgId, teamId, runId } = place;
  const ids = [...agents.map(({ agentId }) => agentId), place.agentId];
  const isHeld =
    runId !== '' && ids.some((agentId) => control.runs.over({ orgId, teamId, agentId }, runId) !== undefined);
  if (isHeld) return 'held';
  return underWay > 0 ? 'active' : 'ended';
}

function fits(gov: Controls, run: Run, { orgId, teamId, agentId, label, state }: RunFilter): boolean {
  const { place, agents } = run;
  if (orgId !== undefined && orgId !== place.orgId) return false;
  if (teamId !== undefined && teamId !== place.teamId) return false;
  if (agentId !== undefined && agentId !== place.agentId && agents.every((each) => each.agentId !== agentId))
    return false;
  if (label !== undefined && gov.runs.labels.of({ of: 'run', place }).every(({ name }) => name !== label)) return false;
  return state === undefined || stateOf(gov, run) === state;
}

function newest(gov: Controls, runs: readonly Run[], most: number): Run[] {
  const byTime = (a: Run, b: Run) => {
    if (a.startedAt !== b.startedAt) return b.startedAt - a.startedAt;
    return placeInList(gov, a).id > placeInList(gov, b).id ? -1 : 1;
  };
  return runs.toSorted(byTime).slice(0, most);
}

/** Whether a place comes before a run. Digests are made only of those that began at the same moment. */
function isNewer(gov: Controls, { at, id }: Place, run: Run): boolean {
  return at > run.startedAt || (at === run.startedAt && id > placeInList(gov, run).id);
}
