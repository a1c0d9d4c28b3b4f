import { decisionCost } from '@reeve/core';

/** How large a condition may be, and how much it may do. */
export interface ConditionLimits {
  /** Characters of its text. */
  readonly length: number;
  /** Parts of the expression: names, literals, operators, calls. */
  readonly parts: number;
  /** How deeply parts may be nested. */
  readonly depth: number;
  /** Instructions of all patterns that are written in it. */
  readonly instructions: number;
  /** What it may cost where it is evaluated by itself; in a decision, all conditions share what that may cost. */
  readonly cost: number;
}

export const defaultLimits: ConditionLimits = {
  length: 16_384,
  parts: 2_000,
  depth: 64,
  instructions: 20_000,
  cost: decisionCost,
};
