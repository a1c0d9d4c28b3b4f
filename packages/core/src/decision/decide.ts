import type { Exceeded } from '../budget/ledger.ts';
import type { Micros } from '../budget/money.ts';
import { usdOfMicros } from '../budget/money.ts';
import { noteApproached } from '../budget/note-approached.ts';
import type { Governance } from '../governance.ts';
import type { EpochMs } from '../kernel/clock.ts';
import type { Op } from '../ops/op.ts';
import type { Agent } from '../tenancy/agent.ts';
import type { Judgement } from './answer.ts';
import { chargeOf } from './charge.ts';
import { CheckFacts } from './check-facts.ts';
import type { CheckRequest } from './check-request.ts';

/** What policy and budgets say of an action that is asked about for the first time. */
export type Decided = Pick<Judgement, 'decision' | 'reason' | 'policyRule' | 'tier' | 'limit'>;

/** Evaluates policy, then holds the cost back in every budget of the agent, or in none. */
export function decide(gov: Governance, agent: Agent, request: CheckRequest, op: Op, now: EpochMs): Decided {
  const charge = chargeOf(gov.policies, request);
  op.costMicros = charge ?? 0;
  const facts = new CheckFacts(gov, agent, request, now, op.costMicros);
  const { effect, reason, rule: policyRule, tier } = gov.policies.evaluate(agent.record.id, request.action, facts);
  if (effect !== 'allow') return { decision: 'deny', reason, policyRule, tier };
  if (charge === undefined) return unpriced(request);
  if (charge === 0) return { decision: 'allow', reason, policyRule, tier };
  const exceeded = gov.ledger.exceededBy(agent.record.id, charge);
  if (exceeded !== undefined) return refused(gov, exceeded, charge, now);
  reserve(gov, agent, op, charge);
  return { decision: 'allow', reason, policyRule, tier };
}

function reserve(gov: Governance, agent: Agent, op: Op, charge: Micros): void {
  const { undo, approached } = gov.ledger.reserve(agent.record.id, charge);
  op.reservedMicros = charge;
  gov.journal.onFailure(() => {
    undo();
    op.reservedMicros = 0;
  });
  if (approached.length > 0) noteApproached(gov, agent, approached);
}

function unpriced({ action }: CheckRequest): Decided {
  const reason = `the model "${action.model}" has no price, and policy refuses such; estimate the cost or add a price`;
  return { decision: 'deny', reason, policyRule: 'budget/pricing', tier: 'budget' };
}

function refused(gov: Governance, exceeded: Exceeded, charge: Micros, now: EpochMs): Decided {
  const { of, period, limitMicros, totalMicros } = exceeded;
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
  const resets = new Date(gov.ledger.resetsAt(period)).toISOString();
  const reason =
    `${usdOfMicros(charge)} USD would pass the ${of.tier}'s cap of ${usdOfMicros(limitMicros)} USD a ${period}; ` +
    `${usdOfMicros(Math.max(0, limitMicros - totalMicros))} USD are left until ${resets}`;
  return {
    decision: 'deny',
    reason,
    policyRule: `budget/${of.tier}.${period}`,
    tier: 'budget',
    limit: { tier: of.tier, period, limitMicros, totalMicros },
  };
}
