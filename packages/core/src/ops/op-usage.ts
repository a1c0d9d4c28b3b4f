import { usageCostOf } from '../budget/index.ts';
import type { Micros } from '../kernel/index.ts';
import { checkCost, invalid } from '../kernel/index.ts';
import type { Op, OpUsage } from './op.ts';
import type { Operations } from './operations.ts';

/** What is reported of the cost of an action. */
export interface ReportedCost {
  /** Null: what its tokens cost, or else the reserved amount. */
  readonly actualCostMicros: number | null;
  /** What a model call did use. */
  readonly usage?: OpUsage | null;
}

/**
 * What the action did cost: as reported, or by the prices in force now for the tokens that it used. Null if neither is
 * known. The operation does not keep the prices of its check, so a price that changes meanwhile counts as it is now.
 */
export function costOf(gov: Operations, op: Op, { actualCostMicros, usage = null }: ReportedCost): Micros | null {
  if (usage !== null) checkUsage(usage);
  if (actualCostMicros !== null) checkCost('actual_cost_micros', actualCostMicros, gov.mostActionMicros);
  if (actualCostMicros !== null || usage === null || op.actionType !== 'llm_call') return actualCostMicros;
  const { inputTokens, outputTokens, cachedInputTokens } = usage;
  const used = {
    inputTokens: inputTokens ?? 0,
    outputTokens: outputTokens ?? 0,
    cachedInputTokens: cachedInputTokens ?? 0,
  };
  const cost = usageCostOf(gov.policies.pricing, op.resource, used);
  if (cost === undefined) return null;
  checkCost('the cost of the tokens', cost, gov.mostActionMicros);
  return cost;
}

function checkUsage({ inputTokens, outputTokens, cachedInputTokens }: OpUsage): void {
  const counts = { input_tokens: inputTokens, output_tokens: outputTokens, cached_input_tokens: cachedInputTokens };
  for (const [field, tokens] of Object.entries(counts)) {
    if (tokens !== null && !(Number.isSafeInteger(tokens) && tokens >= 0)) {
      throw invalid(field, 'must be a whole number from 0');
    }
  }
  if ((cachedInputTokens ?? 0) > (inputTokens ?? 0)) {
    throw invalid('cached_input_tokens', 'must be at most input_tokens, of which they are a part');
  }
}

/** The tokens as an entry has them. */
export function tokensOf(usage: OpUsage | null): Record<string, number> {
  if (usage === null) return {};
  const { inputTokens, outputTokens, cachedInputTokens } = usage;
  return {
    ...(cachedInputTokens === null ? {} : { cached_input_tokens: cachedInputTokens }),
    ...(inputTokens === null ? {} : { input_tokens: inputTokens }),
    ...(outputTokens === null ? {} : { output_tokens: outputTokens }),
  };
}
