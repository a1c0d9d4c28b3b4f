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
import { agentAndAbove, agentsAbove, delegationRule, refuseByDelegation, refuseCost } from './judge-delegation.ts';
import { resultDutyOf } from './result-duty.ts';
import type { Charge, Weighed } from './weigh-budgets.ts';
import { chargeOf, limitTold, weighBudgets } from './weigh-budgets.ts';
import { labelsOfCall, withLabels } from './weigh-labels.ts';
import { countRates, weighRates } from './weigh-rates.ts';
import type { EpochMs, Micros } from '../kernel/index.ts';
import type { ResultDuty } from '../ops/index.ts';
import type { RateInForce, Tier, Verdict } from '../policy/index.ts';
import { Evaluation, subjectOf } from '../policy/index.ts';
import type { InRun } from '../runs/index.ts';
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
export function decide(gov: Decisions, asker: Asker, request: CheckRequest, run: InRun, now: EpochMs): Decided {
  const { agent, links } = asker;
  const { action } = request;
  const charge = chargeOf(gov.policies, request);
  const costMicros = charge.micros ?? 0;
  const facts = new CheckFacts(gov, agent, request, run, now, costMicros);
  const evaluation = new Evaluation(subjectOf(action, userOf(request)));
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
  const counting = countingOf(agent, own, above);
  const charged = { run, tiers: tiersCharged(run), charge };
  const decided = refuseByRates(gov, counting, costMicros, now) ?? weigh(gov, asker, request, verdict, charged, now);
  if (decided.decision !== 'deny') for (const each of counting) countRates(gov, each.agent, each.rates, now);
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
  const told: { -readonly [Member in keyof Decided]: Decided[Member] } = { ...decided };
  if (gives) told.labels = labels;
  if (owes) told.resultDuty = duty;
  if (rewritten !== undefined) told.rewritten = rewritten;
  if (masks) told.masksPrompt = masksPrompt;
  if (asked !== undefined) told.asked = asked;
  if (observed !== undefined) told.observed = observed;
  if (price !== undefined) told.price = price;
  return told;
}

/** Whose rates count a check. */
interface Counting {
  readonly agent: Agent;
  readonly rates: readonly RateInForce[];
}

const noCounting: readonly Counting[] = [];
const noRates: readonly RateInForce[] = [];

type JudgedAgent = { readonly agent: Agent; readonly verdict: Verdict };

/** What everybody in the team, the org or the gateway may do together is counted once. */
function countingOf(agent: Agent, own: Verdict, above: readonly JudgedAgent[]): readonly Counting[] {
  if (own.rates === undefined && above.length === 0) return noCounting;
  const all = [{ agent, rates: own.rates ?? noRates }, ...above.map(ratesAbove)];
  return all.filter(({ rates }) => rates.length > 0);
}

function ratesAbove({ agent, verdict }: JudgedAgent): Counting {
  return { agent, rates: (verdict.rates ?? noRates).filter(({ tier }) => tier === 'agent') };
}

/** Refuses what passes a rate. */
function refuseByRates(
  gov: Decisions,
  counting: readonly Counting[],
  costMicros: Micros,
  now: EpochMs,
): Decided | undefined {
  for (const { agent, rates } of counting) {
    const refusal = weighRates(gov, agent.record.id, { rates }, now);
    if (refusal !== undefined) return { decision: 'deny', ...refusal, costMicros, reservedMicros: 0 };
  }
  return undefined;
}

/** What a check is charged, and where. */
interface Charged {
  readonly run: InRun;
  readonly tiers: readonly TierOf[];
  readonly charge: Charge;
}

/** Holds the cost of an action against every budget, and against what those above it have delegated. */
function weigh(
  gov: Decisions,
  asker: Asker,
  request: CheckRequest,
  verdict: Verdict,
  charged: Charged,
  now: EpochMs,
): Decided {
  const { ledger } = gov;
  const { tiers, charge } = charged;
  const caps = { policy: ledger.policy, exceededBy: (cost: Micros) => ledger.exceededBy(tiers, cost) };
  const weighed = weighBudgets(gov, caps, request, verdict, charge);
  const costMicros = charge.micros ?? 0;
  const tooDear = weighed.decision === 'deny' ? undefined : refuseCost(gov, asker.links, costMicros);
  if (tooDear !== undefined) return refusedByDelegation(costMicros, { reason: tooDear });
  return settle(gov, asker, request, charged, now, weighed, verdict.tier);
}

/** Finds the cost to reserve for an action that may run or waits for people, uses its grant, and reports an exceeded cap. */
function settle(
  gov: Decisions,
  { agent, links }: Asker,
  request: CheckRequest,
  { run, tiers, charge: { micros: costMicros = 0 } }: Charged,
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
  const grant = asks && exceeded === undefined ? findGrant(gov, request, run, run.runId, asking, now) : undefined;
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
