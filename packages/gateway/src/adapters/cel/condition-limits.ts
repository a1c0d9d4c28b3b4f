import { decisionCost } from '@reeve/core';

/** How large a condition may be, and how much it may do. */
export interface ConditionLimits {
  /** Characters of the text. */
  readonly length: number;
  /** Parts of the expression: names, literals, operators, calls. */
  readonly parts: number;
  /** How deeply parts may be nested. */
  readonly depth: number;
  /** Instructions of all patterns in the condition. */
  readonly instructions: number;
  /**
   * The cost limit of a condition evaluated by itself. In a decision, all conditions share the limit of the decision.
   */
  readonly cost: number;
}

export const defaultLimits: ConditionLimits = {
  length: 16_384,
  parts: 2_000,
  depth: 64,
  instructions: 20_000,
  cost: decisionCost,
};
