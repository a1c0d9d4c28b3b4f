import type { Principal } from '../access/index.ts';
import { requireUnbound, widthOf } from '../access/index.ts';
import { redactText } from '../audit/index.ts';
import { invalid, ReeveError } from '../kernel/index.ts';
import type { ScopeSuspension, TenantScope } from '../tenancy/index.ts';
import { visibleAgents } from '../tenancy/index.ts';
import { newControlId } from './control-op.ts';
import type { Controls } from './controls.ts';
import { emptyScope } from './run-bulk.ts';
import { moveForScope } from './settle-suspensions.ts';
import { noteSuspension } from './note-suspension.ts';

export interface SuspendScope {
  readonly by: Principal;
  /** Without an org, everything. */
  readonly orgId: string | undefined;
  readonly teamId: string | undefined;
  readonly action: ScopeSuspension['action'];
  readonly reason: string;
}

/** How many suspensions credentials of one binding may hold in force. Beyond that, further ones are refused. */
export const mostSuspensions = 1000;
/** One of them leaves room for what others have to stop. */
export const mostSuspensionsOfOne = 500;

/**
 * Suspends an org, a team or everything: from the first turn on, every check of every agent in it is denied. Then what
 * runs in it is paused or terminated. Resolves once all of that is durable.
 */
export async function suspendScope(gov: Controls, request: SuspendScope): Promise<ScopeSuspension> {
  const { by } = request;
  const scope = scopeOf(request);
  await gov.journal.fresh(() => requireScopeOf(gov, by, scope));
  const suspension = await gov.journal.turn(gov.callers.warrantOf(by), () => impose(gov, request, scope));
  return await moveForScope(gov, suspension, by);
}

function scopeOf({ orgId, teamId }: SuspendScope): TenantScope {
  if (orgId === undefined && teamId !== undefined)
    throw invalid('team_id', 'needs org_id, the org that the team is in');
  return { orgId: orgId ?? null, teamId: teamId ?? null };
}

/** Refuses a scope beyond the caller's tenant, and one without any agent. Everything is never empty. */
function requireScopeOf(gov: Controls, by: Principal, { orgId, teamId }: TenantScope): void {
  if (orgId === null) {
    requireUnbound(by);
    return;
  }
  if (by.orgId === orgId && by.teamId !== null && teamId === null) {
    throw new ReeveError(
      'tenant_bound',
      'this credential is bound to a team, and suspends no more than that: name team_id',
    );
  }
  const [first] = visibleAgents(gov, by, { orgId, teamId: teamId ?? undefined });
  if (first === undefined) throw emptyScope();
}

function impose(gov: Controls, { by, action, reason }: SuspendScope, scope: TenantScope): ScopeSuspension {
  requireRoom(gov, by);
  const suspension: ScopeSuspension = {
    ...scope,
    id: `sus_${gov.randomness.hex(12)}`,
    action,
    actor: by.actor,
    credentialId: by.credentialId,
    imposedBy: { orgId: by.orgId, teamId: by.teamId },
    reason: redactText(reason),
    since: gov.clock.now(),
    operations: { matched: 0, changed: 0, skipped: 0, controlId: newControlId(gov) },
    isSettled: false,
    lifted: null,
  };
  gov.journal.apply({ kind: 'suspension_saved', suspension });
  noteSuspension(gov, suspension, 'suspended', { by, reason: suspension.reason, at: suspension.since });
  return suspension;
}

/** No suspension is ever given up for another one. */
function requireRoom({ directory }: Controls, by: Principal): void {
  const width = widthOf(by);
  let held = 0;
  let own = 0;
  for (const { imposedBy, credentialId } of directory.suspensions.inForce()) {
    if (widthOf(imposedBy) !== width || imposedBy.orgId !== by.orgId || imposedBy.teamId !== by.teamId) continue;
    held++;
    if (credentialId === by.credentialId) own++;
  }
  if (held < mostSuspensions && own < mostSuspensionsOfOne) return;
  const who =
    held >= mostSuspensions
      ? `credentials with this binding hold ${held}`
      : `this credential holds ${mostSuspensionsOfOne}`;
  throw new ReeveError(
    'too_many_suspensions',
    `${who} suspensions, the most they may; lift those that are no longer needed, or suspend a wider scope in their place`,
  );
}
