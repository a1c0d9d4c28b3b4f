import { redactText } from '../audit/redact.ts';
import type { Exceeded, Ledger } from '../budget/ledger.ts';
import type { Micros } from '../budget/money.ts';
import { minus, usdOfMicros } from '../budget/money.ts';
import { timestamp } from '../kernel/clock.ts';
import type { Action } from './action.ts';

export interface Refusal {
  readonly reason: string;
  readonly policyRule: string;
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

/** Which cap a charge would pass, and what is left of it. */
export function exceededReason(ledger: Ledger, exceeded: Exceeded, charge: Micros): Refusal {
  const { of, period, limitMicros, totalMicros } = exceeded;
  const whose = of.tier === 'global' ? 'global cap' : `${of.tier}'s cap`;
  const left = usdOfMicros(totalMicros < limitMicros ? minus(limitMicros, totalMicros) : 0);
  const reason =
    `${usdOfMicros(charge)} USD would pass the ${whose} of ${usdOfMicros(limitMicros)} USD a ${period}; ` +
    `${left} USD are left until ${timestamp(ledger.resetsAt(period))}`;
  return { reason, policyRule: `budget/${of.tier}.${period}` };
}
