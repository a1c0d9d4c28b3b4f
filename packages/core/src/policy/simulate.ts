import type { Principal } from '../access/principal.ts';
import { requireReach, requireScope } from '../access/principal.ts';
import type { Micros } from '../budget/money.ts';
import { exceededUnder } from '../budget/exceeded-under.ts';
import type { Decision } from '../decision/answer.ts';
import { chargeOf } from '../decision/charge.ts';
import { CheckFacts } from '../decision/check-facts.ts';
import type { CheckRequest } from '../decision/check-request.ts';
import { exceededReason, unpricedReason } from '../decision/refusal-reasons.ts';
import { lineageOfId } from '../tenancy/lineage.ts';
import { strangerOf } from '../tenancy/stranger.ts';
import type { Candidate } from './candidate.ts';
import { candidateSet } from './candidate.ts';
import type { EvaluationWorld } from './evaluation-world.ts';
import { readerOf } from './policy-reader.ts';
import type { PolicySet, Verdict } from './policy-set.ts';
import type { ConsideredRule } from './trail.ts';
import { considerRules } from './trail.ts';

/** What a check would be answered, with every rule that was considered. */
export interface Simulation {
  readonly decision: Decision;
  readonly reason: string;
  readonly policyRule: string;
  readonly policyVersion: string;
  readonly costMicros: Micros;
  readonly rules: readonly ConsideredRule[];
}

/**
 * Answers a check as policy and budgets would, under what is in force or a candidate. Nothing is recorded, reserved or
 * counted. An agent that nobody has registered is judged by its ids alone.
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
  const agent = gov.directory.find(agentId) ?? { record: strangerOf(agentId), lineage: lineageOfId(agentId) };
  const charge = chargeOf(set, request);
  const facts = new CheckFacts(gov, agent, request, gov.clock.now(), charge ?? 0);
  const verdict = set.evaluate(agentId, request.action, facts);
  return {
    ...weigh(gov, set, request, verdict, charge),
    policyVersion: set.version,
    costMicros: charge ?? 0,
    rules: considerRules(set, agentId, request.action, facts, readerOf(by)),
  };
}

type Weighed = Pick<Simulation, 'decision' | 'reason' | 'policyRule'>;

/** What the budgets make of a verdict, in the order in which a decision does it. */
function weigh(
  gov: EvaluationWorld,
  set: PolicySet,
  request: CheckRequest,
  { effect, reason, rule: policyRule }: Verdict,
  charge: Micros | undefined,
): Weighed {
  if (effect === 'deny') return { decision: 'deny', reason, policyRule };
  if (charge === undefined) return { decision: 'deny', ...unpricedReason(request.action) };
  const exceeded = exceededUnder(set.budgets, gov.ledger, request.agentId, charge);
  if (exceeded !== undefined) {
    const refusal = exceededReason(gov.ledger, exceeded, charge);
    if (set.budgets.actionOnExceed === 'deny') return { decision: 'deny', ...refusal };
    const both = effect === 'require_approval' ? `${refusal.reason}; and ${reason}` : refusal.reason;
    return { decision: 'pending', ...refusal, reason: both };
  }
  return { decision: effect === 'allow' ? 'allow' : 'pending', reason, policyRule };
}
