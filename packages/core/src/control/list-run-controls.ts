import type { Principal } from '../access/index.ts';
import { narrowedTo, requireScope } from '../access/index.ts';
import type { TenantFilter } from '../tenancy/index.ts';
import type { Controls } from './controls.ts';
import type { ListPage, ListPlace } from './newest-first.ts';
import { newestFirst } from './newest-first.ts';
import type { RunControl, RunReach } from './run-controls.ts';

export interface RunControlFilter extends TenantFilter {
  readonly runId?: string | undefined;
}

export interface RunControlPage extends Omit<ListPage<RunControl>, 'items'> {
  readonly controls: readonly RunControl[];
}

/** The controls of runs that hold for later checks, newest first, as far as the caller may see them. */
export function* listRunControls(
  { control: { runs } }: Controls,
  by: Principal,
  filter: RunControlFilter,
  page: { readonly before?: ListPlace | undefined; readonly limit: number },
): Generator<void, RunControlPage> {
  requireScope(by, 'read');
  const within = narrowedTo(by, filter);
  const { items: controls, ...rest } = yield* newestFirst(
    filter.runId === undefined ? [...runs.all()] : runs.ofRun(filter.runId),
    (control) => within !== 'nothing' && liesWithin(by, control) && fits(control, within),
    { at: ({ at }) => at, id: ({ controlId }) => controlId },
    page,
  );
  return { controls, ...rest };
}

export function runControlPlace({ at, controlId }: RunControl): ListPlace {
  return { at, id: controlId };
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
