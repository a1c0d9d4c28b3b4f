/** How large a condition may be, and how much it may do. */
export interface ConditionLimits {
  /** Characters of its text. */
  readonly length: number;
  /** Parts of the expression: names, literals, operators, calls. */
  readonly parts: number;
  /** How deeply parts may be nested. */
  readonly depth: number;
  /** What one evaluation may cost. A unit is about 10 ns, so that the whole takes a few milliseconds at most. */
  readonly cost: number;
}

export const defaultLimits: ConditionLimits = { length: 16_384, parts: 2_000, depth: 64, cost: 500_000 };
