import type { Principal } from '../access/index.ts';
import { requireAuthority, requireScope, standingOf, widthOf } from '../access/index.ts';
import { redactText } from '../audit/index.ts';
import { ReeveError } from '../kernel/index.ts';
import type { ScopeSuspension } from '../tenancy/index.ts';
import { areRelated } from '../tenancy/index.ts';
import { neededForScope } from './control-scope.ts';
import type { Controls } from './controls.ts';
import { hasOwnAgent } from './own-agents.ts';
import { resumeScope } from './settle-suspensions.ts';
import { controlScopeOf, noteSuspension } from './note-suspension.ts';

export interface LiftSuspension {
  readonly by: Principal;
  readonly id: string;
  readonly reason: string;
}

/**
 * Lifts a suspension. Agents in its scope are answered again, and what it paused runs on, unless something else holds
 * either. Resolves once all of that is durable.
 */
export async function liftSuspension(gov: Controls, { by, id, reason }: LiftSuspension): Promise<ScopeSuspension> {
  const isOwn = await gov.journal.fresh(() => isOwnScope(gov, by, requireLifting(gov, by, id, false)));
  const lifted = await gov.journal.turn(gov.callers.warrantOf(by), () => {
    const suspension = requireLifting(gov, by, id, isOwn);
    const at = gov.clock.now();
    const why = redactText(reason);
    const imposedBy = { orgId: by.orgId, teamId: by.teamId };
    const after: ScopeSuspension = { ...suspension, lifted: { actor: by.actor, imposedBy, reason: why, at } };
    gov.journal.apply({ kind: 'suspension_saved', suspension: after });
    noteSuspension(gov, after, 'resumed', { by, reason: why, at });
    return after;
  });
  await resumeScope(gov, lifted, by);
  return lifted;
}

/** The suspension, if the caller may lift it: it needs what imposing it needs, and must be as wide as who imposed it. */
function requireLifting(gov: Controls, by: Principal, id: string, isOwn: boolean): ScopeSuspension {
  const suspension = gov.directory.suspensions.find(id);
  if (suspension === undefined || suspension.lifted !== null || !areRelated(suspension, by)) {
    throw new ReeveError('suspension_not_found', `there is no suspension "${id}" in force`);
  }
  requireScope(by, neededForScope(controlScopeOf(suspension)));
  requireAuthority({ ...standingOf(gov.keys, by), isOwn }, 'suspension', widthOf(suspension.imposedBy));
  return suspension;
}

/** Whether the caller registered an agent in the scope. What a credential imposed itself it lifts all the same. */
async function isOwnScope(gov: Controls, by: Principal, suspension: ScopeSuspension): Promise<boolean> {
  const { credentialId, orgId, teamId, since } = suspension;
  if (credentialId === by.credentialId) return false;
  return await hasOwnAgent(gov, by, [{ orgId, teamId, agentId: null, at: since }]);
}
