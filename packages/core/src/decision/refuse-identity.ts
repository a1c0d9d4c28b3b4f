import type { CheckRequest } from '../action/index.ts';
import { canonicalJson } from '../audit/index.ts';
import type { Actor, Lineage } from '../audit/index.ts';
import type { Judgement } from './answer.ts';
import type { Decisions } from './decisions.ts';
import { countRefused } from './judge-delegation.ts';
import type { AgentId } from '../kernel/index.ts';
import { agentKey } from '../kernel/index.ts';
import { actorOf, touchAgent, provenAgent } from '../tenancy/index.ts';
import type { Identity } from '../tenancy/index.ts';

/**
 * Denies a request whose identity check failed, before any policy. It leaves no operation and no spend, only one audit
 * entry. A borrowed token is recorded under the tenant of its real owner.
 */
export function refuseIdentity(
  gov: Decisions,
  request: CheckRequest,
  refusal: Extract<Identity, { known: false }>,
  startedAt: number,
): Judgement {
  const { claimed, owner, reason } = refusal;
  const claim = request.agentId;
  const about = owner ?? claimed;
  // A suspended or blocked agent has proven its identity. The owner of a borrowed token is known, too.
  const held = provenAgent(refusal);
  if (held !== undefined) touchAgent(gov, held, startedAt);
  const known = owner ?? held;
  const at = gov.clock.now();
  const details = {
    action_type: request.action.type,
    claimed_agent_id: claim.agentId,
    claimed_org_id: claim.orgId,
    claimed_team_id: claim.teamId,
    ...(held === undefined ? {} : countRefused(gov, held)),
    ...(owner === undefined
      ? {}
      : {
          owner_agent_id: owner.record.id.agentId,
          owner_org_id: owner.record.id.orgId,
          owner_team_id: owner.record.id.teamId,
        }),
  };
  gov.journal.record({
    at,
    eventType: owner === undefined ? 'ActionDenied' : 'A2AImpersonationAttempted',
    lineage: about?.lineage ?? unregistered(claim),
    actor: known === undefined ? unauthenticated(claim) : actorOf(known),
    opId: null,
    traceId: request.traceId === '' ? null : request.traceId,
    spanId: request.spanId === '' ? null : request.spanId,
    decision: 'deny',
    reason,
    policyRule: 'identity',
    policyVersion: gov.policies.version,
    ...(owner === undefined || claim.orgId === '' ? {} : { claimedOrgId: claim.orgId }),
    payload: canonicalJson(details),
  });
  // An unregistered agent has no tenant to tell.
  if (about !== undefined) {
    const agent = about.record.id;
    gov.journal.apply({ type: 'decision', at, agent, decision: 'deny', reason, policyRule: 'identity', opId: '' });
    if (owner !== undefined) gov.journal.apply({ type: 'audit_alert', at, agent, alert: 'impersonation', details });
  }
  return { decision: 'deny', reason, policyRule: 'identity', tier: 'identity', op: undefined, startedAt };
}

/** Nobody vouches for the claim, so no tenant is named. */
function unregistered(claim: AgentId): Lineage {
  return {
    agent_id: claim.agentId,
    depth: 0,
    org_id: null,
    parent_agent_id: null,
    root_agent_id: claim.agentId,
    team_id: claim.teamId,
  };
}

function unauthenticated(claim: AgentId): Actor {
  return { id: agentKey(claim), kind: 'unauthenticated', label: '' };
}
