import { redactText } from '../audit/redact.ts';
import type { Exceeded, Ledger } from '../budget/ledger.ts';
import type { Micros } from '../budget/money.ts';
import { usdOfMicros } from '../budget/money.ts';
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

/** Which cap a charge would pass, and what is left of it. */
export function exceededReason(ledger: Pick<Ledger, 'resetsAt'>, exceeded: Exceeded, charge: Micros): Refusal {
  const { of, period, limitMicros, totalMicros } = exceeded;
  const whose = of.tier === 'global' ? 'global cap' : `${of.tier}'s cap`;
  const left = usdOfMicros(Math.max(0, limitMicros - totalMicros));
  const reason =
    `${usdOfMicros(charge)} USD would pass the ${whose} of ${usdOfMicros(limitMicros)} USD a ${period}; ` +
    `${left} USD are left until ${timestamp(ledger.resetsAt(period))}`;
  return { reason, policyRule: `budget/${of.tier}.${period}` };
}
