import type { CheckRequest } from '../action/index.ts';
import { userOf } from '../action/index.ts';
import { nameOf, mostOpenApprovals, findGrant, useGrant } from '../approvals/index.ts';
import type { ApprovalQuestion } from '../approvals/index.ts';
import type { Exceeded, TierOf } from '../budget/index.ts';
import { approverWidth, noteApproached, tiersCharged } from '../budget/index.ts';
import type { Judgement } from './answer.ts';
import { CheckFacts } from './check-facts.ts';
import type { Decisions } from './decisions.ts';
import { judgeCall } from './judge-call.ts';
import type { DelegationRefusal } from './judge-delegation.ts';
import {
  agentAndAbove,
  agentsAbove,
  delegationRule,
  delegatorsIn,
  refuseByDelegation,
  refuseCost,
} from './judge-delegation.ts';
import { resultDutyOf } from './result-duty.ts';
import type { Weighed } from './weigh-budgets.ts';
import { chargeOf, limitTold, weighBudgets } from './weigh-budgets.ts';
import { labelsOfCall, withLabels } from './weigh-labels.ts';
import { countRates, weighRates } from './weigh-rates.ts';
import type { EpochMs, Micros } from '../kernel/index.ts';
import type { OpRecord, ResultDuty } from '../ops/index.ts';
import type { RateInForce, Tier, Verdict } from '../policy/index.ts';
import { Evaluation, subjectOf } from '../policy/index.ts';
import { noLabels } from '../runs/index.ts';
import type { Agent, Link } from '../tenancy/index.ts';
import { agentsUnder } from '../tenancy/index.ts';

/** What policy and budgets say about an action on its first check. */
export interface Decided
  extends Pick<
    Judgement,
    | 'decision'
    | 'reason'
    | 'policyRule'
    | 'tier'
    | 'limit'
    | 'grantId'
    | 'asked'
    | 'observed'
    | 'price'
    | 'rate'
    | 'labels'
    | 'rewritten'
    | 'masksPrompt'
  > {
  /** What the action costs, and how much of that the budgets are to reserve. */
  readonly costMicros: Micros;
  readonly reservedMicros: Micros;
  /** The check does not count for the delegations above, because one of them has none left. */
  readonly isUncounted?: true;
  /** What the operation owes if rules on results could match what it brings back. */
  readonly resultDuty?: ResultDuty;
  /** What to ask people, if the decision is theirs. */
  readonly question?: ApprovalQuestion;
}

/** Who asks, and the delegations by which it acts, if there are any. */
export interface Asker {
  readonly agent: Agent;
  readonly links: readonly Link[];
}

/** Evaluates policy, then weighs the cost in every budget. For a delegate, what holds for everybody above it counts, too. */
export function decide(gov: Decisions, asker: Asker, request: CheckRequest, runId: string, now: EpochMs): Decided {
  const { agent, links } = asker;
  const { action } = request;
  const charge = chargeOf(gov.policies, request);
  const costMicros = charge.micros ?? 0;
  const delegators = delegatorsIn(links);
  const run = { agent: agent.record.id, runId, delegators };
  const facts = new CheckFacts(gov, agent, request, run, now, costMicros);
  const evaluation = new Evaluation(subjectOf(action, facts.user()));
  const refusal = refuseByDelegation(links, request, evaluation);
  if (refusal !== undefined) return refusedByDelegation(costMicros, refusal);
  const delegating = agentsAbove(links).map((each) => {
    return { agent: each, facts: new CheckFacts(gov, each, request, run, now, costMicros) };
  });
  const judged = judgeCall(gov.policies, request, { agent, facts }, delegating, evaluation);
  const { own, above, strictest, rewritten, masksPrompt, parties } = judged;
  const isDenied = strictest.effect === 'deny';
  const labels = isDenied ? noLabels : labelsOfCall(gov, parties, evaluation);
  const agents = agentAndAbove(agent, links);
  const duty = isDenied ? null : resultDutyOf(gov.policies, agents, action, userOf(request));
  // Those that count if nobody asks about the result must find room as well: at the end, nothing can be denied any more.
  const verdict = withLabels(gov, run, strictest, duty === null ? labels : [...labels, ...duty.unjudged]);
  // What everybody in the team, the org or the gateway may do together is counted once.
  const counting = [{ agent, rates: own.rates ?? [] }, ...above.map(ratesAbove)].filter(
    ({ rates }) => rates.length > 0,
  );
  const tiers = tiersCharged({ agent: agent.record.id, delegators });
  const decided = withinRates(gov, counting, costMicros, now, () => {
    const { policy } = gov.ledger;
    const caps = { policy, exceededBy: (cost: Micros) => gov.ledger.exceededBy(tiers, cost) };
    const weighed = weighBudgets(gov, caps, { agentId: agent.record.id, action }, verdict, charge);
    const tooDear = weighed.decision === 'deny' ? undefined : refuseCost(gov, links, costMicros);
    if (tooDear !== undefined) return refusedByDelegation(costMicros, { reason: tooDear });
    return settle(gov, { ...asker, tiers }, request, { runId, costMicros }, now, weighed, verdict.tier);
  });
  const { asked } = facts;
  // What observed documents say is told of the agent itself. They come after all that is enforced.
  const observed = gov.policies.observe(agent.record.id, action, facts, evaluation, verdict.effect);
  const { price } = charge;
  const isAgreed = decided.decision !== 'deny';
  const gives = labels.length > 0 && isAgreed;
  const owes = duty !== null && isAgreed;
  const masks = masksPrompt === true && isAgreed;
  const isPlain = asked === undefined && observed === undefined && price === undefined && rewritten === undefined;
  if (isPlain && !gives && !owes && !masks) return decided;
  return {
    ...decided,
    ...(gives ? { labels } : {}),
    ...(owes ? { resultDuty: duty } : {}),
    ...(rewritten === undefined ? {} : { rewritten }),
    ...(masks ? { masksPrompt } : {}),
    ...(asked === undefined ? {} : { asked }),
    ...(observed === undefined ? {} : { observed }),
    ...(price === undefined ? {} : { price }),
  };
}

/** Whose rates count a check. */
interface Counting {
  readonly agent: Agent;
  readonly rates: readonly RateInForce[];
}

function ratesAbove({ agent, verdict }: { readonly agent: Agent; readonly verdict: Verdict }): Counting {
  return { agent, rates: (verdict.rates ?? []).filter(({ tier }) => tier === 'agent') };
}

/** Refuses what passes a rate. What is allowed or held otherwise counts. */
function withinRates(
  gov: Decisions,
  counting: readonly Counting[],
  costMicros: Micros,
  now: EpochMs,
  decideFurther: () => Decided,
): Decided {
  for (const { agent, rates } of counting) {
    const refusal = weighRates(gov, agent.record.id, { rates }, now);
    if (refusal !== undefined) return { decision: 'deny', ...refusal, costMicros, reservedMicros: 0 };
  }
  const decided = decideFurther();
  if (decided.decision !== 'deny') for (const { agent, rates } of counting) countRates(gov, agent, rates, now);
  return decided;
}

/** Finds the cost to reserve for an action that may run or waits for people, uses its grant, and reports an exceeded cap. */
function settle(
  gov: Decisions,
  { agent, links, tiers }: Asker & { readonly tiers: readonly TierOf[] },
  request: CheckRequest,
  { runId, costMicros }: Pick<OpRecord, 'runId' | 'costMicros'>,
  now: EpochMs,
  weighed: Weighed,
  verdictTier: Tier,
): Decided {
  const { decision, reason, policyRule, tier, exceeded, asking } = weighed;
  if (exceeded !== undefined) noteExceeded(gov, exceeded, now);
  if (decision === 'deny') {
    const denied: Decided = { decision, reason, policyRule, tier, costMicros, reservedMicros: 0 };
    return exceeded === undefined ? denied : { ...denied, limit: limitTold(exceeded, agent.record.id) };
  }
  const asks = decision === 'pending';
  const grant =
    asks && exceeded === undefined
      ? findGrant(gov, request, { agent: agent.record.id, delegators: delegatorsIn(links) }, runId, asking, now)
      : undefined;
  const question = asks && grant === undefined ? questionOf(gov, tiers, costMicros, weighed) : undefined;
  if (question !== undefined && openApprovalsOf(gov, agent, links) >= mostOpenApprovals)
    return tooMany(question, verdictTier, costMicros);
  if (costMicros > 0) noteApproached(gov, agent.lineage, gov.ledger.approachedBy(tiers, reservation(costMicros)));
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
  tiers: readonly TierOf[],
  charge: Micros,
  { reason, policyRule, exceeded, asking }: Weighed,
): ApprovalQuestion {
  if (exceeded === undefined) return { cause: 'rule', reason, policyRule, asking, approver: 'team' };
  return { cause: 'budget', reason, policyRule, asking, approver: approverWidth(gov.ledger, tiers, charge) };
}

function refusedByDelegation(costMicros: Micros, { reason, isUncounted }: DelegationRefusal): Decided {
  const denied = { decision: 'deny', reason, policyRule: delegationRule, tier: 'delegation' } as const;
  return { ...denied, costMicros, reservedMicros: 0, ...(isUncounted === undefined ? {} : { isUncounted }) };
}

/** How much an agent has asked people, with all that act for the same one. */
function openApprovalsOf({ approvals, directory }: Decisions, agent: Agent, links: readonly Link[]): number {
  const root = links.at(-1)?.delegator ?? agent;
  let open = approvals.openCountOf(root.key);
  for (const key of agentsUnder(directory, root)) open += approvals.openCountOf(key);
  return open;
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
