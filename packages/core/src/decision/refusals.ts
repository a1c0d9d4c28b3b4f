import type { Action } from '../action/action.ts';
import type { CheckRequest } from '../action/check-request.ts';
import { canonicalJson } from '../audit/canonical-json.ts';
import type { Actor, Lineage } from '../audit/entry.ts';
import { redactText } from '../audit/redact.ts';
import type { Exceeded } from '../budget/cap-rule.ts';
import type { Ledger } from '../budget/ledger.ts';
import type { TierOf } from '../budget/tier.ts';
import type { Judgement, Limit } from './answer.ts';
import type { Decisions } from './decisions.ts';
import type { AgentId } from '../kernel/ids.ts';
import { agentKey } from '../kernel/ids.ts';
import { timestamp } from '../kernel/clock.ts';
import type { Micros } from '../kernel/money.ts';
import { minus, usdOfMicros } from '../kernel/money.ts';
import { actorOf } from '../tenancy/agent.ts';
import { touchAgent, provenAgent } from '../tenancy/identify.ts';
import type { Identity } from '../tenancy/identify.ts';

/**
 * Denies a request whose identity failed: before any policy, leaving no operation and no spend, with one audit entry.
 * A borrowed token is recorded under the tenant of its real owner.
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
  // Who is suspended or blocked has shown who it is; whose token is another's has shown that, too.
  const held = provenAgent(refusal);
  if (held !== undefined) touchAgent(gov, held, startedAt);
  const known = owner ?? held;
  const at = gov.clock.now();
  const details = {
    action_type: request.action.type,
    claimed_agent_id: claim.agentId,
    claimed_org_id: claim.orgId,
    claimed_team_id: claim.teamId,
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
  // Of an agent that nobody has registered there is no tenant to tell.
  if (about !== undefined) {
    const agent = about.record.id;
    gov.journal.publish({ type: 'decision', at, agent, decision: 'deny', reason, policyRule: 'identity', opId: '' });
    if (owner !== undefined) gov.journal.publish({ type: 'audit_alert', at, agent, alert: 'impersonation', details });
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

export interface Refusal {
  readonly reason: string;
  readonly policyRule: string;
}

const budgetRule = /^budget\/(?:(?:global|org|team|agent)\.(?:day|month)|pricing)$/;

/** Whether a budget decided, and not a rule: an org may be called `budget`, and its documents begin with that. */
export function isBudgetRule(policyRule: string): boolean {
  return budgetRule.test(policyRule);
}

/** Why a call of a model without a price is refused, where policy refuses such. */
export function unpricedReason({ model }: Action): Refusal {
  return {
    reason: `the model "${redactText(model)}" has no price, and policy refuses such; estimate the cost or add a price`,
    policyRule: 'budget/pricing',
  };
}

/** Why a call of a model whose tokens cost more than one action may is refused. */
export function overpricedReason({ model }: Action, charge: Micros, mostMicros: Micros): Refusal {
  return {
    reason:
      `by the price of the model "${redactText(model)}" this call costs ${usdOfMicros(charge)} USD at most, and one ` +
      `action may cost ${usdOfMicros(mostMicros)} USD; ask for fewer tokens`,
    policyRule: 'budget/pricing',
  };
}

/** Whether an agent may learn the amounts of a tier: what everybody spends together is no org's business. */
export function isToldAmounts({ tier }: TierOf, { orgId }: AgentId): boolean {
  return tier !== 'global' || orgId === '';
}

/** Which cap a charge would pass, and what is left of it, where whoever reads this may learn that. */
export function exceededReason(
  ledger: Pick<Ledger, 'resetsAt'>,
  exceeded: Exceeded,
  charge: Micros,
  isTold: boolean,
): Refusal {
  const { of, period, limitMicros, totalMicros } = exceeded;
  const whose = of.tier === 'global' ? 'global cap' : `${of.tier}'s cap`;
  const cost = usdOfMicros(charge);
  const until = timestamp(ledger.resetsAt(period));
  const policyRule = `budget/${of.tier}.${period}`;
  if (!isTold)
    return { reason: `${cost} USD would pass the ${whose} of the ${period}, which ends ${until}`, policyRule };
  const left = usdOfMicros(totalMicros < limitMicros ? minus(limitMicros, totalMicros) : 0);
  const reason = `${cost} USD would pass the ${whose} of ${usdOfMicros(limitMicros)} USD a ${period}; ${left} USD are left until ${until}`;
  return { reason, policyRule };
}

/** The cap that a refused charge would have passed, as its agent is told of it. */
export function limitTold({ of, period, limitMicros, totalMicros }: Exceeded, agent: AgentId): Limit {
  const { tier } = of;
  return isToldAmounts(of, agent)
    ? { tier, period, limitMicros, totalMicros }
    : { tier, period, limitMicros: 0, totalMicros: 0 };
}
