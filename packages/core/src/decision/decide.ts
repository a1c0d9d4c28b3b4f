import type { CheckRequest } from '../action/index.ts';
import { nameOf, mostOpenApprovals, findGrant, useGrant } from '../approvals/index.ts';
import type { ApprovalQuestion } from '../approvals/index.ts';
import type { Exceeded } from '../budget/index.ts';
import { approverWidth, noteApproached, tiersOf } from '../budget/index.ts';
import type { Judgement } from './answer.ts';
import { CheckFacts } from './check-facts.ts';
import type { Decisions } from './decisions.ts';
import type { Weighed } from './weigh-budgets.ts';
import { chargeOf, limitTold, weighBudgets } from './weigh-budgets.ts';
import { countRates, restOnRates, weighRates } from './weigh-rates.ts';
import type { EpochMs, Micros } from '../kernel/index.ts';
import type { OpRecord } from '../ops/index.ts';
import type { Tier, Verdict } from '../policy/index.ts';
import type { Agent } from '../tenancy/index.ts';

/** What policy and budgets say about an action on its first check. */
export interface Decided
  extends Pick<
    Judgement,
    'decision' | 'reason' | 'policyRule' | 'tier' | 'limit' | 'grantId' | 'asked' | 'observed' | 'price' | 'rate'
  > {
  /** What the action costs, and how much of that the budgets are to reserve. */
  readonly costMicros: Micros;
  readonly reservedMicros: Micros;
  /** What to ask people, if the decision is theirs. */
  readonly question?: ApprovalQuestion;
}

/** Evaluates policy, then weighs the cost in every budget of the agent. */
export function decide(gov: Decisions, agent: Agent, request: CheckRequest, runId: string, now: EpochMs): Decided {
  const charge = chargeOf(gov.policies, request);
  const costMicros = charge.micros ?? 0;
  const facts = new CheckFacts(gov, agent, request, now, costMicros);
  const verdict = gov.policies.evaluate(agent.record.id, request.action, facts);
  const decided = withinRates(gov, agent, verdict, costMicros, now, () => {
    const { id: agentId } = agent.record;
    const weighed = weighBudgets(gov, gov.ledger, { agentId, action: request.action }, verdict, charge);
    return settle(gov, agent, request, { runId, costMicros }, now, weighed, verdict.tier);
  });
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

/** Refuses what passes a rate. What is allowed or held otherwise counts. */
function withinRates(
  gov: Decisions,
  agent: Agent,
  verdict: Verdict,
  costMicros: Micros,
  now: EpochMs,
  decideFurther: () => Decided,
): Decided {
  const { rates } = verdict;
  if (rates === undefined) return decideFurther();
  const refusal = weighRates(gov, agent.record.id, verdict, now);
  if (refusal !== undefined) {
    restOnRates(gov);
    return { decision: 'deny', ...refusal, costMicros, reservedMicros: 0 };
  }
  const decided = decideFurther();
  if (decided.decision !== 'deny') countRates(gov, agent, rates, now);
  return decided;
}

/** Finds the cost to reserve for an action that may run or waits for people, uses its grant, and reports an exceeded cap. */
function settle(
  gov: Decisions,
  agent: Agent,
  request: CheckRequest,
  { runId, costMicros }: Pick<OpRecord, 'runId' | 'costMicros'>,
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
    const denied: Decided = { decision, reason, policyRule, tier, costMicros, reservedMicros: 0 };
    return exceeded === undefined ? denied : { ...denied, limit: limitTold(exceeded, agent.record.id) };
  }
  const asks = decision === 'pending';
  const grant =
    asks && exceeded === undefined ? findGrant(gov, request, agent.record.id, runId, asking, now) : undefined;
  const question = asks && grant === undefined ? questionOf(gov, agent, costMicros, weighed) : undefined;
  if (question !== undefined && gov.approvals.openCountOf(agent.key) >= mostOpenApprovals)
    return tooMany(question, verdictTier, costMicros);
  if (costMicros > 0) {
    noteApproached(gov, agent.lineage, gov.ledger.approachedBy(tiersOf(agent.record.id), reservation(costMicros)));
    // Within the caps here is not enough: other gateways charge them, too.
    const { id } = agent.record;
    if (exceeded === undefined && gov.journal.isShared) {
      // It fits only because of a release that is not durable yet. That must come first.
      if (!gov.ledger.wouldSurelyFit(id, costMicros)) gov.journal.restOnAll();
      gov.journal.onlyWhile(() => gov.ledger.isSurelyWithinCaps(id) && gov.ledger.hasToldShares(id));
    }
  }
  const costs = { costMicros, reservedMicros: costMicros };
  if (question !== undefined) return { decision: 'pending', reason, policyRule, tier, question, ...costs };
  if (grant === undefined) return { decision: 'allow', reason, policyRule, tier, ...costs };
  useGrant(gov, grant, now);
  const allowed = `allowed by the grant ${grant.id} of ${nameOf(grant.grantedBy)}; ${reason}`;
  return { decision: 'allow', reason: allowed, policyRule, tier, grantId: grant.id, ...costs };
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
function tooMany({ policyRule, reason }: ApprovalQuestion, tier: Tier, costMicros: Micros): Decided {
  const why = `${mostOpenApprovals} actions of this agent wait for approval already; ${reason}`;
  return { decision: 'deny', reason: why, policyRule, tier, costMicros, reservedMicros: 0 };
}

function reservation(micros: Micros) {
  return { reserved: micros, settled: { day: 0, month: 0 } };
}

function noteExceeded(gov: Decisions, { of, period, limitMicros, totalMicros }: Exceeded, now: EpochMs): void {
  gov.journal.apply({
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
