import type { Principal } from '../access/principal.ts';
import { requireReach, requireScope } from '../access/principal.ts';
import type { Micros } from '../kernel/money.ts';
import { exceededUnder } from '../budget/cap-rule.ts';
import type { TierOf } from '../budget/tier.ts';
import { tiersOf } from '../budget/tier.ts';
import type { Decision } from '../audit/entry.ts';
import { chargeOf } from '../decision/decide.ts';
import { CheckFacts } from '../decision/check-facts.ts';
import type { CheckRequest } from '../action/check-request.ts';
import { exceededReason, overpricedReason, unpricedReason } from '../decision/refusals.ts';
import type { AgentId } from '../kernel/ids.ts';
import { lineageOfId } from '../audit/entry.ts';
import { unregisteredAgent } from '../tenancy/agent.ts';
import type { Asking } from '../policy/asking-rules.ts';
import { alsoOfBudget, waitOf } from '../policy/asking-rules.ts';
import type { Candidate, EvaluationWorld } from './candidate.ts';
import { candidateSet } from './candidate.ts';
import { readerOf } from '../policy/policies.ts';
import type { PolicySet, Verdict } from '../policy/policy-set.ts';
import type { ConsideredRule } from '../policy/trail.ts';
import { considerRules } from '../policy/trail.ts';

/** What a check would be answered, with every rule that was considered. */
export interface Simulation {
  readonly decision: Decision;
  readonly reason: string;
  readonly policyRule: string;
  readonly policyVersion: string;
  readonly costMicros: Micros;
  /** On which terms people would be asked; undefined where they would not. */
  readonly approvals: SimulatedApprovals | undefined;
  readonly rules: readonly ConsideredRule[];
}

export interface SimulatedApprovals {
  readonly rules: readonly string[];
  readonly count: number;
  readonly waitMs: number;
  readonly grants: boolean;
}

/**
 * Answers a check as policy and budgets would, under what is in force or a candidate. Nothing is recorded, reserved or
 * counted. An agent that nobody has registered is judged by its ids alone.
 *
 * Whoever is bound to a tenant is answered as if nobody else was there: caps of everybody are not looked at, and
 * `spend.global` is what its own org has spent. Else the costs that are allowed and refused would tell, question by
 * question, what others have spent.
 */
export function simulate(
  gov: EvaluationWorld,
  by: Principal,
  request: CheckRequest,
  candidate: Candidate | undefined,
): Simulation {
  requireScope(by, 'read');
  requireReach(by, request.agentId);
  const set = candidate === undefined ? gov.policies : candidateSet(gov, by, candidate);
  const { agentId } = request;
  const agent = gov.directory.find(agentId) ?? { record: unregisteredAgent(agentId), lineage: lineageOfId(agentId) };
  const charge = chargeOf(set, request);
  const facts = new CheckFacts(gov, agent, request, gov.clock.now(), charge ?? 0, by.orgId !== null);
  const verdict = set.evaluate(agentId, request.action, facts);
  return {
    ...weigh(gov, by, set, request, verdict, charge),
    policyVersion: set.version,
    costMicros: charge ?? 0,
    rules: considerRules(set, agentId, request.action, facts, readerOf(by)),
  };
}

type Weighed = Pick<Simulation, 'decision' | 'reason' | 'policyRule' | 'approvals'>;

/** What the budgets make of a verdict, in the order in which a decision does it. */
function weigh(
  gov: EvaluationWorld,
  by: Principal,
  set: PolicySet,
  request: CheckRequest,
  { effect, reason, rule: policyRule, asking }: Verdict,
  charge: Micros | undefined,
): Weighed {
  const none = { approvals: undefined };
  if (effect === 'deny') return { decision: 'deny', reason, policyRule, ...none };
  if (charge === undefined) return { decision: 'deny', ...unpricedReason(request.action), ...none };
  if (charge > gov.mostActionMicros) {
    return { decision: 'deny', ...overpricedReason(request.action, charge, gov.mostActionMicros), ...none };
  }
  const exceeded = exceededUnder(set.budgets, gov.ledger, tiersSeen(by, request.agentId), charge);
  if (exceeded !== undefined) {
    const refusal = exceededReason(gov.ledger, exceeded, charge, true);
    if (set.budgets.actionOnExceed === 'deny') return { decision: 'deny', ...refusal, ...none };
    const both = effect === 'require_approval' ? `${refusal.reason}; and ${reason}` : refusal.reason;
    return { decision: 'pending', ...refusal, reason: both, approvals: termsOf(gov, alsoOfBudget(asking)) };
  }
  if (effect === 'allow') return { decision: 'allow', reason, policyRule, ...none };
  return { decision: 'pending', reason, policyRule, approvals: termsOf(gov, asking) };
}

function termsOf({ approvals }: EvaluationWorld, asking: Asking | undefined): SimulatedApprovals {
  const { rules = [], count = 1, grants = false } = asking ?? {};
  return { rules, count, waitMs: waitOf(asking, approvals.settings.ttlMs), grants };
}

/** The tiers whose caps a simulation looks at for this caller. */
function tiersSeen(by: Principal, agent: AgentId): readonly TierOf[] {
  return tiersOf(agent).filter(({ tier }) => tier !== 'global' || by.orgId === null);
}
