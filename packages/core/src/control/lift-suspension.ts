import type { Principal } from '../access/index.ts';
import { isOfLineageOfAny, refusalOf, requireAuthority, requireScope, standingOf, widthOf } from '../access/index.ts';
import { redactText } from '../audit/index.ts';
import { ReeveError } from '../kernel/index.ts';
import type { ScopeSuspension } from '../tenancy/index.ts';
import { areRelated, visibleAgents } from '../tenancy/index.ts';
import { neededForScope } from './control-scope.ts';
import type { Controls } from './controls.ts';
import { resumeScope } from './settle-suspensions.ts';
import { anybody, controlScopeOf, noteSuspension, saveSuspension } from './suspension-changes.ts';

export interface LiftSuspension {
  readonly by: Principal;
  readonly id: string;
  readonly reason: string;
}

/** How many agents are looked at per turn. */
const looksPerTurn = 5000;

/**
 * Lifts a suspension. Agents in its scope are answered again, and what it paused runs on, unless something else holds
 * either. Resolves once all of that is durable.
 */
export async function liftSuspension(gov: Controls, { by, id, reason }: LiftSuspension): Promise<ScopeSuspension> {
  const isOwn = await gov.journal.fresh(() => hasOwnAgent(gov, by, requireLifting(gov, by, id, false)));
  const lifted = await gov.journal.turn(gov.callers.warrantOf(by), () => {
    const suspension = requireLifting(gov, by, id, isOwn);
    const at = gov.clock.now();
    const why = redactText(reason);
    const imposedBy = { orgId: by.orgId, teamId: by.teamId };
    const after: ScopeSuspension = { ...suspension, lifted: { actor: by.actor, imposedBy, reason: why, at } };
    saveSuspension(gov, after);
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

/**
 * Whether the caller's credential, or one that it comes from, registered an agent in the scope, one that has left since
 * included. What a credential imposed itself it lifts all the same.
 */
async function hasOwnAgent(gov: Controls, by: Principal, suspension: ScopeSuspension): Promise<boolean> {
  if (suspension.credentialId === by.credentialId) return false;
  const own = { ...standingOf(gov.keys, by), isOwn: true };
  if (refusalOf('suspension', own, 'team') === null) return false;
  const { orgId, teamId, leftWith } = suspension;
  if (leftWith.includes(anybody) || isOfLineageOfAny(gov.keys, by.credentialId, leftWith)) return true;
  const looked = new Set<string>();
  let count = 0;
  // Copies the list: an agent that registers again in between would come twice.
  for (const { record } of [...visibleAgents(gov, by, { orgId: orgId ?? undefined, teamId: teamId ?? undefined })]) {
    if (++count % looksPerTurn === 0) await gov.journal.nextTurn();
    const registrars = record.registeredWith.join(' ');
    if (looked.has(registrars)) continue;
    looked.add(registrars);
    if (isOfLineageOfAny(gov.keys, by.credentialId, record.registeredWith)) return true;
  }
  return false;
}
