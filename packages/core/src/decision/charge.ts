import type { Micros } from '../kernel/money.ts';
import { knownPriceOf, priceOf } from '../budget/pricing.ts';
import type { PolicySet } from '../policy/policy-set.ts';
import type { CheckRequest } from '../action/check-request.ts';

/**
 * What an action costs at most: the agent's estimate, which is no less than a price that policy knows; without one its
 * tokens at the price of the model, else nothing. Undefined where the model has no price and policy refuses such.
 */
export function chargeOf({ pricing }: PolicySet, { estimatedCostMicros, action }: CheckRequest): Micros | undefined {
  const isCall = action.type === 'llm_call';
  if (estimatedCostMicros === null) return isCall ? priceOf(pricing, action) : 0;
  return isCall ? Math.max(estimatedCostMicros, knownPriceOf(pricing, action) ?? 0) : estimatedCostMicros;
}
