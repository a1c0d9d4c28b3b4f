import type { Principal } from '../access/index.ts';
import { narrowedTo, requireScope } from '../access/index.ts';
import type { EpochMs } from '../kernel/index.ts';
import type { TenantFilter } from '../tenancy/index.ts';
import type { Controls } from './controls.ts';
import type { RunControl, RunReach } from './run-controls.ts';

export interface RunControlFilter extends TenantFilter {
  readonly runId?: string | undefined;
}

/** Where a control stands in the list. */
interface Place {
  readonly at: EpochMs;
  readonly id: string;
}

export interface RunControlPage {
  readonly controls: readonly RunControl[];
  /** The place before which the next page starts; null if there is none. */
  readonly next: Place | null;
  readonly total: number;
}

/** How many controls one step looks at: about a millisecond. */
const looksPerStep = 5000;

/**
 * The controls of runs that hold for later checks, newest first, as far as the caller may see them. It looks at all of
 * them, in steps, between decisions.
 */
export function* listRunControls(
  { control: { runs } }: Controls,
  by: Principal,
  filter: RunControlFilter,
  page: { readonly before?: Place | undefined; readonly limit: number },
): Generator<void, RunControlPage> {
  requireScope(by, 'read');
  const within = narrowedTo(by, filter);
  const { before, limit } = page;
  let found: RunControl[] = [];
  let total = 0;
  let looked = 0;
  for (const control of filter.runId === undefined ? [...runs.all()] : runs.ofRun(filter.runId)) {
    if (++looked % looksPerStep === 0) yield;
    if (within === 'nothing' || !liesWithin(by, control) || !fits(control, within)) continue;
    total++;
    if (before !== undefined && !isNewer(before, runControlPlace(control))) continue;
    found.push(control);
    if (found.length > 4 * limit + 1000) found = newest(found, limit + 1);
  }
  const rest = newest(found, limit + 1);
  const controls = rest.slice(0, limit);
  const last = controls.at(-1);
  return { controls, next: rest.length > limit && last !== undefined ? runControlPlace(last) : null, total };
}

function newest(controls: readonly RunControl[], most: number): RunControl[] {
  return controls.toSorted((a, b) => (isNewer(runControlPlace(a), runControlPlace(b)) ? -1 : 1)).slice(0, most);
}

export function runControlPlace({ at, controlId }: RunControl): Place {
  return { at, id: controlId };
}

function isNewer(one: Place, other: Place): boolean {
  return one.at > other.at || (one.at === other.at && one.id > other.id);
}

/** For a tenant, a control that could reach beyond it does not exist. */
function liesWithin(by: Principal, { orgId, teamId }: RunReach): boolean {
  if (by.orgId !== null && by.orgId !== orgId) return false;
  return by.teamId === null || by.teamId === teamId;
}

function fits({ orgId, teamId }: RunReach, within: TenantFilter): boolean {
  if (within.orgId !== undefined && within.orgId !== orgId) return false;
  return within.teamId === undefined || within.teamId === teamId;
}
