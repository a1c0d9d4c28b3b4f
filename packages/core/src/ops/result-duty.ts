import type { OwedLabel } from '../runs/index.ts';

/** Rules on results could match what an operation brings back: somebody is to ask about it. */
export interface ResultDuty {
  /** Whether somebody has asked. */
  readonly judged: boolean;
  /** What counts if nobody does: the labels of all rules on results that fit the call. */
  readonly unjudged: readonly OwedLabel[];
}
