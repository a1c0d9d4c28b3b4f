import type { Principal } from '../access/index.ts';
import { requireReach, requireScope } from '../access/index.ts';
import type { Micros, AgentId } from '../kernel/index.ts';
import { plus } from '../kernel/index.ts';
import { exceededUnder, tiersOf } from '../budget/index.ts';
import type { PriceSource, TierOf } from '../budget/index.ts';
import type { Decision, Json } from '../audit/index.ts';
import { asLogged, chargeOf, judgeCall, runAsked, weighBudgets, weighRates, CheckFacts } from '../decision/index.ts';
import { explainedByLabels, labelsOfCall, resultDutyOf } from '../decision/index.ts';
import type { CheckRequest } from '../action/index.ts';
import { describeArgs, userOf } from '../action/index.ts';
import { lineageOfId } from '../audit/index.ts';
import { findRegistered, unregisteredAgent } from '../tenancy/index.ts';
import type { Asking, ConsideredRule, RateInForce, Verdict } from '../policy/index.ts';
import { considerCall, Evaluation, readerOf, subjectOf, waitOf } from '../policy/index.ts';
import type { InRun, OwedLabel } from '../runs/index.ts';
import { noLabels } from '../runs/index.ts';
import type { Candidate, EvaluationWorld } from './candidate.ts';
import { candidateSet } from './candidate.ts';
import type { SimulatedResult } from './supposed-result.ts';
import { judgeSupposed } from './supposed-result.ts';

/** The answer that a check would get, with every considered rule. */
export interface Simulation {
  readonly decision: Decision;
  readonly reason: string;
  readonly policyRule: string;
  readonly policyVersion: string;
  readonly costMicros: Micros;
  /** Where the price of the model comes from, if it decided the cost. */
  readonly price: PriceSource | undefined;
  /** The terms on which people would be asked; undefined if they would not be. */
  readonly approvals: SimulatedApprovals | undefined;
  /** What rules would make of the arguments, as the log would have it. Undefined if nothing. */
  readonly rewrittenArgs: Json | undefined;
  /** Whether rules would mask the prompt. */
  readonly masksPrompt: boolean;
  /** The labels that the call would give: at once, or when it is approved. */
  readonly labels: readonly string[];
  /** Whether any rule on results could match what the call brings back. */
  readonly judgeResult: boolean;
  /** What becomes of the supposed result. Undefined if none is supposed, or the call would be denied. */
  readonly result: SimulatedResult | undefined;
  readonly rules: readonly ConsideredRule[];
}

export interface SimulatedApprovals {
  readonly rules: readonly string[];
  readonly count: number;
  readonly waitMs: number;
  readonly grants: boolean;
}

/**
 * Answers a check as policy, rates and budgets would, under the policies in force or a candidate. It records, reserves and
 * counts nothing. An unregistered agent is judged by its ids alone.
 *
 * A caller bound to a tenant gets an answer as if it were alone: global caps and rates do not count, and `spend.global` is the
 * spend of its own org. Otherwise the allowed and refused costs would reveal, question by question, what others have
 * spent.
 *
 * `brought` is what the call is supposed to bring back, if that is to be judged as well.
 */
export function simulate(
  gov: EvaluationWorld,
  by: Principal,
  request: CheckRequest,
  candidate: Candidate | undefined,
  brought?: string,
): Simulation {
  requireScope(by, 'read');
  requireReach(by, request.agentId);
  const set = candidate === undefined ? gov.policies : candidateSet(gov, by, candidate);
  const { agentId } = request;
  const agent = findRegistered(gov.directory, agentId) ?? {
    record: unregisteredAgent(agentId),
    lineage: lineageOfId(agentId),
  };
  const charge = chargeOf(set, request);
  const run = runAsked(agentId, request.runId);
  const costMicros = charge.micros ?? 0;
  const now = gov.clock.now();
  const isAlone = by.orgId !== null;
  const facts = new CheckFacts(gov, agent, request, run, now, costMicros, isAlone);
  const evaluation = new Evaluation(subjectOf(request.action, facts.user()));
  const { own, strictest, rewritten, masksPrompt, parties } = judgeCall(set, request, { agent, facts }, [], evaluation);
  const labels = strictest.effect === 'deny' ? noLabels : labelsOfCall({ policies: set }, parties, evaluation);
  const caps = {
    policy: set.budgets,
    exceededBy: (cost: Micros) => exceededUnder(set.budgets, gov.ledger, tiersSeen(by, agentId), cost),
  };
  const refusal = weighRates(gov, agentId, { rates: ratesSeen(by, own) }, now, () => true);
  const weighed = weighBudgets(gov, caps, request, explainedByLabels(gov, run, strictest), charge, () => true);
  const { decision, reason, policyRule, asking } =
    refusal === undefined ? weighed : { ...refusal, decision: 'deny' as const, asking: undefined };
  const isDenied = decision === 'deny';
  const mayRead = readerOf(by);
  const duty = isDenied ? null : resultDutyOf(set, [agent], request.action, userOf(request));
  const result = () => {
    const { asked } = facts;
    const call = asLogged(request, {
      at: now,
      depth: agent.lineage.depth,
      costMicros,
      asked,
      rewritten,
      sha256: gov.sha256,
    });
    const party = { record: agent.record, depth: agent.lineage.depth };
    const after = new CheckFacts(afterCall(gov, costMicros, labels), agent, request, run, now, costMicros, isAlone);
    const moment = { now, run: () => after.run(), spendOf: () => after.spend() };
    return judgeSupposed({ policies: set, sha256: gov.sha256 }, { text: brought ?? '', call, party, moment }, mayRead);
  };
  return {
    decision,
    reason,
    policyRule,
    labels: isDenied ? [] : namesOf(labels),
    judgeResult: duty !== null,
    result: isDenied || brought === undefined ? undefined : result(),
    approvals: decision === 'pending' ? termsOf(gov, asking) : undefined,
    policyVersion: set.version,
    costMicros,
    price: charge.price,
    rewrittenArgs: rewritten === undefined ? undefined : loggedArgs(rewritten.request, gov.sha256),
    masksPrompt: masksPrompt === true && decision !== 'deny',
    rules: considerCall(set, agentId, facts, parties.find((party) => party.facts !== facts)?.facts, mayRead),
  };
}

/** The world once the call is made: its run has counted it, bears its labels, and its cost is reserved. */
function afterCall({ ledger, runs }: EvaluationWorld, cost: Micros, owed: readonly OwedLabel[]) {
  const given = owed.map(({ name, policyRule }) => ({ name, policyRule, since: 0, opId: '' }));
  return {
    ledger: {
      read: (of: TierOf) => {
        const read = ledger.read(of);
        return { ...read, reserved: plus(read.reserved, cost) };
      },
    },
    runs: {
      of: (run: InRun) => {
        const { checks, spentMicros } = runs.of(run);
        return { checks: checks + 1, spentMicros: plus(spentMicros, cost) };
      },
      labels: { in: (run: InRun) => [...runs.labels.in(run), ...given] },
    },
  };
}

/** Secrets replaced, and only the length and the digest of long ones. */
function loggedArgs(request: CheckRequest, sha256: EvaluationWorld['sha256']): Json {
  return JSON.parse(describeArgs(request, sha256)) as Json;
}

function termsOf({ approvals }: EvaluationWorld, asking: Asking | undefined): SimulatedApprovals {
  const { rules = [], count = 1, grants = false } = asking ?? {};
  return { rules, count, waitMs: waitOf(asking, approvals.settings.ttlMs), grants };
}

/** The rates that count in a simulation for this caller. */
function ratesSeen(by: Principal, { rates = [] }: Verdict): readonly RateInForce[] {
  return rates.filter(({ tier }) => tier !== 'global' || by.orgId === null);
}

/** The tiers whose caps count in a simulation for this caller. */
function tiersSeen(by: Principal, agent: AgentId): readonly TierOf[] {
  return tiersOf(agent).filter(({ tier }) => tier !== 'global' || by.orgId === null);
}

function namesOf(labels: readonly OwedLabel[]): string[] {
  return [...new Set(labels.map(({ name }) => name))];
}
