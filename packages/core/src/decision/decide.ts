import type { CheckRequest } from '../action/check-request.ts';
import { nameOf } from '../approvals/approval.ts';
import type { ApprovalQuestion } from '../approvals/request-approval.ts';
import { mostOpenApprovals } from '../approvals/request-approval.ts';
import { findGrant, useGrant } from '../approvals/grants.ts';
import type { Exceeded } from '../budget/cap-rule.ts';
import { approverWidth } from '../budget/cap-rule.ts';
import { noteApproached } from '../budget/note-approached.ts';
import { knownPriceOf, priceOf } from '../budget/budget-policy.ts';
import type { Judgement } from './answer.ts';
import { CheckFacts } from './check-facts.ts';
import type { Decisions } from './decisions.ts';
import { exceededReason, isToldAmounts, limitTold, overpricedReason, unpricedReason } from './refusals.ts';
import type { EpochMs } from '../kernel/clock.ts';
import type { Micros } from '../kernel/money.ts';
import type { Op } from '../ops/op.ts';
import { alsoOfBudget } from '../policy/asking-rules.ts';
import type { Tier, Verdict, PolicySet } from '../policy/policy-set.ts';
import type { Agent } from '../tenancy/agent.ts';

/** What policy and budgets say of an action that is asked about for the first time. */
export interface Decided
  extends Pick<Judgement, 'decision' | 'reason' | 'policyRule' | 'tier' | 'limit' | 'grantId' | 'asked' | 'observed'> {
  /** What people are to be asked, where the decision is theirs. */
  readonly question?: ApprovalQuestion;
}

/** Evaluates policy, then holds the cost back in every budget of the agent, or in none. */
export function decide(gov: Decisions, agent: Agent, request: CheckRequest, op: Op, now: EpochMs): Decided {
  const charge = chargeOf(gov.policies, request);
  op.costMicros = charge ?? 0;
  const facts = new CheckFacts(gov, agent, request, now, op.costMicros);
  const verdict = gov.policies.evaluate(agent.record.id, request.action, facts);
  const decided = weigh(gov, agent, request, op, now, charge, verdict);
  const { asked } = facts;
  const { observed } = verdict;
  if (asked === undefined && observed === undefined) return decided;
  return { ...decided, ...(asked === undefined ? {} : { asked }), ...(observed === undefined ? {} : { observed }) };
}

/** What budgets and grants make of a verdict. */
function weigh(
  gov: Decisions,
  agent: Agent,
  request: CheckRequest,
  op: Op,
  now: EpochMs,
  charge: Micros | undefined,
  verdict: Verdict,
): Decided {
  const { effect, reason, rule: policyRule, tier } = verdict;
  if (effect === 'deny') return { decision: 'deny', reason, policyRule, tier };
  if (charge === undefined) return unpriced(request);
  if (charge > gov.mostActionMicros) return overpriced(gov, request, charge);
  const exceeded = charge === 0 ? undefined : gov.ledger.exceededBy(agent.record.id, charge);
  if (exceeded !== undefined && gov.ledger.policy.actionOnExceed === 'deny')
    return refused(gov, agent, exceeded, charge, now);
  const asks = effect === 'require_approval';
  const grant = asks && exceeded === undefined ? findGrant(gov, request, op, verdict.asking, now) : undefined;
  const question =
    exceeded !== undefined
      ? questionOfBudget(gov, agent, exceeded, charge, verdict, now)
      : asks && grant === undefined
        ? questionOfRule(verdict)
        : undefined;
  if (question !== undefined && gov.approvals.openCountOf(agent.key) >= mostOpenApprovals)
    return tooMany(question, tier);
  if (charge > 0) reserve(gov, agent, op, charge);
  if (question !== undefined) {
    const decidedAt = question.cause === 'budget' ? 'budget' : tier;
    return { decision: 'pending', reason: question.reason, policyRule: question.policyRule, tier: decidedAt, question };
  }
  if (grant === undefined) return { decision: 'allow', reason, policyRule, tier };
  useGrant(gov, grant, now);
  const allowed = `allowed by the grant ${grant.id} of ${nameOf(grant.grantedBy)}; ${reason}`;
  return { decision: 'allow', reason: allowed, policyRule, tier, grantId: grant.id };
}

function questionOfRule({ reason, rule: policyRule, asking }: Verdict): ApprovalQuestion {
  return { cause: 'rule', reason, policyRule, asking, approver: 'team' };
}

/** The charge would pass a cap, for which policy has people asked. What a rule asks for besides still holds. */
function questionOfBudget(
  gov: Decisions,
  { record: { id } }: Agent,
  exceeded: Exceeded,
  charge: Micros,
  { effect, reason: ruleReason, asking }: Verdict,
  now: EpochMs,
): ApprovalQuestion {
  noteExceeded(gov, exceeded, now);
  const { reason, policyRule } = exceededReason(gov.ledger, exceeded, charge, isToldAmounts(exceeded.of, id));
  const approver = approverWidth(gov.ledger, id, charge);
  const both = effect === 'require_approval' ? `${reason}; and ${ruleReason}` : reason;
  return { cause: 'budget', reason: both, policyRule, asking: alsoOfBudget(asking), approver };
}

/** An agent must not flood the queue of those who decide. */
function tooMany({ policyRule, reason }: ApprovalQuestion, tier: Tier): Decided {
  const why = `${mostOpenApprovals} actions of this agent wait for approval already; ${reason}`;
  return { decision: 'deny', reason: why, policyRule, tier };
}

function reserve(gov: Decisions, agent: Agent, op: Op, charge: Micros): void {
  const { undo, approached } = gov.ledger.reserve(agent.record.id, charge);
  op.reservedMicros = charge;
  gov.journal.onFailure(() => {
    undo();
    op.reservedMicros = 0;
  });
  if (approached.length > 0) noteApproached(gov, agent.lineage, approached);
}

function unpriced({ action }: CheckRequest): Decided {
  return { decision: 'deny', ...unpricedReason(action), tier: 'budget' };
}

/** An estimate past the bound was refused with its form: what is past it here is tokens at a price of policy. */
function overpriced(gov: Decisions, { action }: CheckRequest, charge: Micros): Decided {
  return { decision: 'deny', ...overpricedReason(action, charge, gov.mostActionMicros), tier: 'budget' };
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

function refused(gov: Decisions, { record: { id } }: Agent, exceeded: Exceeded, charge: Micros, now: EpochMs): Decided {
  noteExceeded(gov, exceeded, now);
  return {
    decision: 'deny',
    ...exceededReason(gov.ledger, exceeded, charge, isToldAmounts(exceeded.of, id)),
    tier: 'budget',
    limit: limitTold(exceeded, id),
  };
}

/**
 * What an action costs at most: the agent's estimate, which is no less than a price that policy knows; without one its
 * tokens at the price of the model, else nothing. Undefined where the model has no price and policy refuses such.
 */
export function chargeOf({ pricing }: PolicySet, { estimatedCostMicros, action }: CheckRequest): Micros | undefined {
  const isCall = action.type === 'llm_call';
  if (estimatedCostMicros === null) return isCall ? priceOf(pricing, action) : 0;
  return isCall ? Math.max(estimatedCostMicros, knownPriceOf(pricing, action) ?? 0) : estimatedCostMicros;
}
