import { redactText } from '../audit/redact.ts';
import type { Ledger } from '../budget/ledger.ts';
import type { Exceeded } from '../budget/cap-rule.ts';
import type { Micros } from '../kernel/money.ts';
import { minus, usdOfMicros } from '../kernel/money.ts';
import type { TierOf } from '../budget/tier.ts';
import { timestamp } from '../kernel/clock.ts';
import type { AgentId } from '../kernel/agent-id.ts';
import type { Action } from '../action/action.ts';
import type { Limit } from './answer.ts';

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
