import type { Micros } from '../budget/money.ts';
import { priceOf } from '../budget/pricing.ts';
import type { PolicySet } from '../policy/policy-set.ts';
import type { CheckRequest } from './check-request.ts';

/**
 * What an action costs at most: the agent's estimate, else its tokens at the price of the model, else nothing. Undefined
 * where the model has no price and policy refuses such.
 */
export function chargeOf({ pricing }: PolicySet, { estimatedCostMicros, action }: CheckRequest): Micros | undefined {
  if (estimatedCostMicros !== null) return estimatedCostMicros;
  if (action.type !== 'llm_call') return 0;
  return priceOf(pricing, action);
}
