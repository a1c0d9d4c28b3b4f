import type { Action } from '../decision/action.ts';
import type { AgentRecord } from '../tenancy/agent.ts';
import type { EpochMs } from '../kernel/clock.ts';

/** What a condition may look at. */
export interface Facts {
  readonly agent: AgentRecord;
  readonly depth: number;
  readonly action: Action;
  readonly now: EpochMs;
}

/** A compiled `when`. It may throw, as where a member is missing; what that means is the evaluator's to say. */
export type Condition = (facts: Facts) => boolean;

/** Compiles and type-checks the text of a `when`; throws an `Error` whose message says what is wrong. */
export type CompileCondition = (source: string) => Condition;
