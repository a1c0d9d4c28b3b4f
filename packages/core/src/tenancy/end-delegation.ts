import type { Actor } from '../audit/index.ts';
import { canonicalJson, draftOf, redactText, system } from '../audit/index.ts';
import type { Principal } from '../access/index.ts';
import type { AgentId, EpochMs } from '../kernel/index.ts';
import { agentKey, announce, isId, invalid, ReeveError, usdOfMicros } from '../kernel/index.ts';
import type { Agent } from './agent.ts';
import { actorOf } from './agent.ts';
import type { Delegation } from './delegation.ts';
import { authenticateAgent, findAgent } from './identify.ts';
import type { Tenancy } from './tenancy.ts';

export type DelegationEnd = 'expired' | 'revoked' | 'delegator_ended' | 'deregistered' | 'workload';

export interface Ending {
  readonly cause: DelegationEnd;
  readonly actor: Actor;
  /** What somebody said about it. Secrets are replaced already. */
  readonly reason?: string;
}

/** What operations and agents are told. */
const told: Readonly<Record<DelegationEnd, string>> = {
  expired: 'delegation has expired',
  revoked: 'delegation was revoked',
  delegator_ended: 'delegation has ended, because an agent above has',
  deregistered: 'agent deregistered',
  workload: 'delegation has ended, because the agent of a workload has this id',
};

/** Why a delegation that nobody has ended is over. */
export function lapseOf({ expiresAt }: Delegation, now: EpochMs): Ending {
  return { cause: expiresAt <= now ? 'expired' : 'delegator_ended', actor: system };
}

/**
 * Ends a delegation, and those below it: the token stops at once, and what is in flight is terminated. The operations
 * are shown until they are swept, as others are.
 */
export function endDelegation(gov: Tenancy, agent: Agent, { cause, actor, reason = '' }: Ending): void {
  const delegation = gov.directory.delegations.of(agent);
  if (delegation === undefined) return;
  endDelegationsBy(gov, agent, actor);
  const { id } = agent.record;
  const at = gov.clock.now();
  const { checks, settledMicros, by } = delegation;
  gov.journal.apply({ kind: 'delegation_ended', delegation: { ...delegation, endedAt: at }, reason: told[cause] });
  announce(gov.reactions.agentLeaving, { agent, actor, because: told[cause], keepsOps: true });
  gov.journal.record(
    draftOf({
      at,
      eventType: 'DelegationEnded',
      lineage: agent.lineage,
      actor,
      reason: reason === '' ? null : reason,
      payload: canonicalJson({
        by: agentKey({ ...id, agentId: by }),
        cause,
        checks,
        spent_usd: usdOfMicros(settledMicros),
      }),
    }),
  );
  gov.journal.apply({ type: 'agent', at, agent: id, change: 'deregistered' });
  if (agent.coverage !== null) gov.journal.apply({ kind: 'agent_uses_removed', id });
  gov.journal.apply({ kind: 'agent_removed', id, isKept: true, keepsOps: true });
}

/** Ends what an agent that leaves has delegated. */
export function endDelegationsBy(gov: Tenancy, agent: Agent, actor: Actor): void {
  for (const key of [...gov.directory.delegations.under(agent)]) {
    const delegate = gov.directory.withKey(key);
    if (delegate !== undefined) endDelegation(gov, delegate, { cause: 'delegator_ended', actor });
  }
}

export interface RevokeDelegationRequest {
  readonly agentId: AgentId | undefined;
  readonly token: string;
  readonly childId: string;
}

/** Whoever delegated ends it. */
export function revokeDelegation(gov: Tenancy, request: RevokeDelegationRequest): void {
  const delegator = authenticateAgent(gov, request.agentId, request.token);
  if (!isId(request.childId)) throw invalid('child_id', 'must be the id of an agent');
  const { id } = delegator.record;
  const delegate = gov.directory.find({ ...id, agentId: request.childId });
  gov.directory.outOfService.refuse({ ...id, agentId: request.childId });
  const delegation = delegate === undefined ? undefined : gov.directory.delegations.of(delegate);
  if (delegate === undefined || delegation?.by !== id.agentId) {
    throw new ReeveError('delegation_not_found', `no agent "${request.childId}" acts for this one`);
  }
  endDelegation(gov, delegate, { cause: 'revoked', actor: actorOf(delegator) });
}

export interface EndDelegation {
  readonly by: Principal;
  readonly agent: AgentId;
  readonly reason: string;
}

/** A person ends a delegation. */
export function endDelegationOf(gov: Tenancy, { by, agent: id, reason }: EndDelegation): void {
  const agent = findAgent(gov, by, id);
  gov.directory.outOfService.refuse(id);
  if (gov.directory.delegations.of(agent) === undefined) {
    throw new ReeveError('delegation_not_found', `the agent "${agent.key}" acts for nobody`);
  }
  endDelegation(gov, agent, { cause: 'revoked', actor: by.actor, reason: redactText(reason) });
}

/** Ends up to `most` delegations that are over by time. Returns how many it ended. */
export function endLapsedDelegations(gov: Tenancy, most: number): number {
  const { directory, clock } = gov;
  const now = clock.now();
  let ended = 0;
  for (const delegation of directory.delegations.all) {
    if (ended === most) break;
    // What is below one that expires ends with it.
    if (delegation.endedAt !== null || delegation.expiresAt > now) continue;
    // Of somebody whom this gateway could not read in full, it does not know who is below.
    if (directory.outOfService.has(delegation.id)) continue;
    const agent = directory.find(delegation.id);
    if (agent === undefined) continue;
    endDelegation(gov, agent, lapseOf(delegation, now));
    ended++;
  }
  return ended;
}
