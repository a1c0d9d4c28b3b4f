import type { Principal } from '../access/index.ts';
import { narrowedTo, requireScope } from '../access/index.ts';
import type { ScopeSuspension, TenantFilter } from '../tenancy/index.ts';
import { areRelated, isWithin } from '../tenancy/index.ts';
import type { Controls } from './controls.ts';

export interface SuspensionPage {
  readonly suspensions: readonly ScopeSuspension[];
  /** The id after which the next page starts; null if there is none. */
  readonly next: { readonly at: number; readonly id: string } | null;
  readonly total: number;
}

type Place = NonNullable<SuspensionPage['next']>;

/**
 * The suspensions in force that concern the caller, newest first: those of its own tenant, and those that its tenant is
 * held by. An org in the filter narrows in the same way, a team to its own ones.
 */
export function listSuspensions(
  { directory }: Controls,
  by: Principal,
  filter: TenantFilter,
  { before, limit }: { readonly before?: Place | undefined; readonly limit: number },
): SuspensionPage {
  requireScope(by, 'read');
  const within = narrowedTo(by, filter);
  if (within === 'nothing') return { suspensions: [], next: null, total: 0 };
  const tenant = { orgId: within.orgId ?? null, teamId: within.teamId ?? null };
  const all = [...directory.suspensions.inForce()]
    .filter((each) => areRelated(each, by) && areRelated(each, tenant) && isOfTeam(each, filter))
    .sort((a, b) => (isNewer(suspensionPlace(a), suspensionPlace(b)) ? -1 : 1));
  const rest = before === undefined ? all : all.filter((each) => isNewer(before, suspensionPlace(each)));
  const suspensions = rest.slice(0, limit);
  const last = suspensions.at(-1);
  return {
    suspensions,
    next: rest.length > limit && last !== undefined ? suspensionPlace(last) : null,
    total: all.length,
  };
}

export function suspensionPlace({ since, id }: ScopeSuspension): Place {
  return { at: since, id };
}

function isOfTeam({ teamId }: ScopeSuspension, filter: TenantFilter): boolean {
  return filter.teamId === undefined || filter.teamId === teamId;
}

function isNewer(one: Place, other: Place): boolean {
  return one.at > other.at || (one.at === other.at && one.id > other.id);
}

/** What became of the operations tells about all tenants in the scope, so a tenant within it is not told. */
export function mayKnowOperations(by: Principal, suspension: ScopeSuspension): boolean {
  return isWithin(by, suspension);
}
