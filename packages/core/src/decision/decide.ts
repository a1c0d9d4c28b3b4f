import type { CheckRequest } from '../action/index.ts';
import { nameOf, mostOpenApprovals, findGrant, useGrant } from '../approvals/index.ts';
import type { ApprovalQuestion } from '../approvals/index.ts';
import type { Exceeded } from '../budget/index.ts';
import { approverWidth, noteApproached } from '../budget/index.ts';
import type { Judgement } from './answer.ts';
import { CheckFacts } from './check-facts.ts';
import type { Decisions } from './decisions.ts';
import type { Weighed } from './weigh-budgets.ts';
import { chargeOf, limitTold, weighBudgets } from './weigh-budgets.ts';
import type { EpochMs, Micros } from '../kernel/index.ts';
import type { Op } from '../ops/index.ts';
import type { Tier } from '../policy/index.ts';
import type { Agent } from '../tenancy/index.ts';

/** What policy and budgets say about an action on its first check. */
export interface Decided
  extends Pick<
    Judgement,
    'decision' | 'reason' | 'policyRule' | 'tier' | 'limit' | 'grantId' | 'asked' | 'observed' | 'price'
  > {
  /** What to ask people, if the decision is theirs. */
  readonly question?: ApprovalQuestion;
}

/** Evaluates policy, then reserves the cost in every budget of the agent, or in none. */
export function decide(gov: Decisions, agent: Agent, request: CheckRequest, op: Op, now: EpochMs): Decided {
  const charge = chargeOf(gov.policies, request);
  gov.ops.change(op, { costMicros: charge.micros ?? 0 });
  const facts = new CheckFacts(gov, agent, request, now, op.costMicros);
  const verdict = gov.policies.evaluate(agent.record.id, request.action, facts);
  const weighed = weighBudgets(gov, gov.ledger, { agentId: agent.record.id, action: request.action }, verdict, charge);
  const decided = settle(gov, agent, request, op, now, weighed, verdict.tier);
  const { asked } = facts;
  // The condition has read what others may have spent since.
  if (asked?.spend !== undefined) {
    gov.journal.restOnAll();
    gov.journal.onlyIf(() => false);
  }
  const { observed } = verdict;
  const { price } = charge;
  if (asked === undefined && observed === undefined && price === undefined) return decided;
  return {
    ...decided,
    ...(asked === undefined ? {} : { asked }),
    ...(observed === undefined ? {} : { observed }),
    ...(price === undefined ? {} : { price }),
  };
}

/** Reserves the cost of an action that may run or waits for people, uses its grant, and reports an exceeded cap. */
function settle(
  gov: Decisions,
  agent: Agent,
  request: CheckRequest,
  op: Op,
  now: EpochMs,
  weighed: Weighed,
  verdictTier: Tier,
): Decided {
  const { decision, reason, policyRule, tier, exceeded, asking } = weighed;
  if (exceeded !== undefined) {
    noteExceeded(gov, exceeded, now);
    // It may fit after all, and later charges of this gateway, which the log has after it, must not count.
    gov.journal.onlyIf(() => false);
    gov.journal.restOnAll();
  }
  if (decision === 'deny') {
    const denied: Decided = { decision, reason, policyRule, tier };
    return exceeded === undefined ? denied : { ...denied, limit: limitTold(exceeded, agent.record.id) };
  }
  const asks = decision === 'pending';
  const grant = asks && exceeded === undefined ? findGrant(gov, request, op, asking, now) : undefined;
  const question = asks && grant === undefined ? questionOf(gov, agent, op.costMicros, weighed) : undefined;
  if (question !== undefined && gov.approvals.openCountOf(agent.key) >= mostOpenApprovals)
    return tooMany(question, verdictTier);
  if (op.costMicros > 0) {
    reserve(gov, agent, op, op.costMicros);
    // Within the caps here is not enough: other gateways charge them, too.
    const { id } = agent.record;
    if (exceeded === undefined && gov.journal.isShared) {
      // It fits only because of a release before it, which must stay before it.
      if (!gov.ledger.isSurelyWithinCaps(id)) gov.journal.restOnAll();
      gov.journal.onlyWhile(() => gov.ledger.isSurelyWithinCaps(id) && gov.ledger.hasToldShares(id));
    }
  }
  if (question !== undefined) return { decision: 'pending', reason, policyRule, tier, question };
  if (grant === undefined) return { decision: 'allow', reason, policyRule, tier };
  useGrant(gov, grant, now);
  const allowed = `allowed by the grant ${grant.id} of ${nameOf(grant.grantedBy)}; ${reason}`;
  return { decision: 'allow', reason: allowed, policyRule, tier, grantId: grant.id };
}

/** Past a cap, the approver must stand above the cap's tenant. Otherwise anybody who may approve can. */
function questionOf(
  gov: Decisions,
  { record: { id } }: Agent,
  charge: Micros,
  { reason, policyRule, exceeded, asking }: Weighed,
): ApprovalQuestion {
  if (exceeded === undefined) return { cause: 'rule', reason, policyRule, asking, approver: 'team' };
  return { cause: 'budget', reason, policyRule, asking, approver: approverWidth(gov.ledger, id, charge) };
}

/** An agent must not flood the approvers' queue. */
function tooMany({ policyRule, reason }: ApprovalQuestion, tier: Tier): Decided {
  const why = `${mostOpenApprovals} actions of this agent wait for approval already; ${reason}`;
  return { decision: 'deny', reason: why, policyRule, tier };
}

function reserve(gov: Decisions, agent: Agent, op: Op, charge: Micros): void {
  const { undo, approached } = gov.ledger.reserve(agent.record.id, charge);
  gov.journal.onFailure(undo);
  gov.journal.onFailure(gov.ops.change(op, { reservedMicros: charge }));
  if (approached.length > 0) noteApproached(gov, agent.lineage, approached);
}

function noteExceeded(gov: Decisions, { of, period, limitMicros, totalMicros }: Exceeded, now: EpochMs): void {
  gov.journal.publish({
    type: 'budget',
    at: now,
    of,
    change: 'exceeded',
    period,
    percent: null,
    limitMicros,
    totalMicros,
  });
}
