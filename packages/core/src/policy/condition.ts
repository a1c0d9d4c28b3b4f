import type { Action, User } from '../action/index.ts';
import type { Json } from '../audit/index.ts';
import type { EpochMs } from '../kernel/index.ts';
import type { FindMatches } from '../masking/index.ts';
import type { Subject } from './subject.ts';
import type { AgentRecord } from '../tenancy/index.ts';

export interface PolicyFeatures {
  /** Compiles `when` expressions. Without it, a rule with a `when` is refused rather than half enforced. */
  readonly compileCondition?: CompileCondition;
  /** Compiles the expressions of a `rewrite`. Without it, a rule with a `rewrite` is refused. */
  readonly compileValue?: CompileValue;
  /** The same for rules on results. */
  readonly compileResultCondition?: CompileResultCondition;
  /** Compiles the patterns of masks. Without it, a mask with patterns is refused. */
  readonly compilePattern?: CompilePattern;
  /** How many rules a source may hold, if not the usual number. */
  readonly mostRules?: number;
  /** How many instructions its patterns may become, if not the usual number. */
  readonly mostInstructions?: number;
}

/** What was counted in a run. */
export interface RunCounts {
  /** How many checks the run made before this one. */
  readonly checks: number;
  readonly spent_usd: number;
}

/** What happened in the run that a check names. */
export interface RunFacts extends RunCounts {
  readonly id: string;
  /** The labels that count in the run, each once, in the order of their names. */
  readonly labels: readonly string[];
}

/** What a tier has spent and reserved, in the present day and month. */
export interface PeriodSpend {
  readonly day_usd: number;
  readonly month_usd: number;
}

export interface SpendFacts {
  readonly global: PeriodSpend;
  readonly org: PeriodSpend;
  readonly team: PeriodSpend;
  readonly agent: PeriodSpend;
}

/** Everything that a condition may read. What needs a look-up or parsing is made on demand, once per evaluation. */
export interface Facts {
  readonly agent: AgentRecord;
  readonly depth: number;
  readonly action: Action;
  readonly now: EpochMs;
  readonly costUsd: number;
  /** The parsed `args_json`; an empty object if there is none. */
  args(): unknown;
  /** The parsed annotations of the tool; an empty object if there are none. */
  annotations(): unknown;
  run(): RunFacts;
  spend(): SpendFacts;
  /** The proven user for whom the agent acts; null if there is none. */
  user(): User | null;
}

/** What a condition on a result may read: all about the call, and what it brought back. */
export interface ResultFacts extends Facts {
  /** The parsed JSON; the text where it is none. */
  result(): unknown;
  resultText(): string;
}

/**
 * A compiled `when`. It may throw, for example on a missing member or when the cost limit is reached. The evaluator
 * decides what that means. Without an evaluation, the condition has a cost limit of its own.
 */
export interface Condition {
  (facts: Facts, evaluation?: Evaluation): boolean;
  /** How many instructions its patterns became; absent if it has none. */
  readonly instructions?: number;
  /** It may read the labels of the run. A refusal then says where they come from. */
  readonly readsLabels?: true;
}

/** The same of a rule on results. */
export interface ResultCondition {
  (facts: ResultFacts, evaluation?: Evaluation): boolean;
  readonly instructions?: number;
}

/** A compiled pattern of a mask. */
export interface FindPattern {
  /** All that matches, from the left, none within another. */
  readonly find: FindMatches;
  readonly instructions: number;
}

/** Compiles a pattern of RE2. Throws a `ConditionError` that says what is wrong, and where. */
export type CompilePattern = (source: string) => FindPattern;

/** Compiles and type-checks the text of a `when` on a result. */
export type CompileResultCondition = (source: string, author?: ConditionAuthor) => ResultCondition;

/** Compiles and type-checks the text of a `when`. Throws a `ConditionError` that says what is wrong, and where. */
export type CompileCondition = (source: string, author?: ConditionAuthor) => Condition;

/** A compiled expression of a `rewrite`. It throws where it has no value, or none that JSON has. */
export interface ValueExpression {
  /** `depth` is how deep the value will stand in the arguments. */
  (facts: Facts, evaluation: Evaluation, depth: number): Json;
  /** How many instructions its patterns became; absent if it has none. */
  readonly instructions?: number;
}

/** Compiles and type-checks an expression of a `rewrite`. Throws as `CompileCondition` does. */
export type CompileValue = (source: string, author?: ConditionAuthor) => ValueExpression;

/** Who wrote a condition. A tenant's condition must not read `spend.global`. */
export type ConditionAuthor = 'operator' | 'tenant';

/**
 * A condition asks for something that is not known. Other than with a failure, nobody can tell what it would say. Only
 * a value that is the same in any case outweighs it.
 */
export class UnknownFact extends Error {
  override readonly name: string = 'UnknownFact';
}

/** A condition asks for something that the log does not hold about a past decision. */
export class NotRecorded extends UnknownFact {
  override readonly name = 'NotRecorded';
}

/** What is wrong with the text of a `when`, and where. */
export class ConditionError extends Error {
  override readonly name = 'ConditionError';
  /** Where in the expression, counted from 0. */
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

/**
 * What all rules of one decision may cost together, over all tiers and including observed documents. A unit is about 10
 * ns, so the worst decision takes a few milliseconds.
 */
export const decisionCost = 250_000;

/** The evaluation of one action: the action as matchers see it, and what is left of its cost limit. */
export class Evaluation {
  readonly subject: Subject;
  readonly #limit: number;
  #left: number;

  constructor(subject: Subject, cost: number = decisionCost) {
    this.subject = subject;
    this.#limit = cost;
    this.#left = cost;
  }

  /** Once a charge does not fit, nothing is left for any later one. */
  get isSpent(): boolean {
    return this.#left < 0;
  }

  /** What was charged so far. */
  get cost(): number {
    return this.#limit - this.#left;
  }

  /** Call it before work whose amount a policy or a request decides. Returns whether the work may be done. */
  take(units: number): boolean {
    this.#left -= units;
    return this.#left >= 0;
  }

  /** The same for matchers, which throw instead. */
  readonly charge = (units: number): void => {
    if (!this.take(units)) throw tooExpensive;
  };
}

/** The error is about a policy and a request, not about this code: one instance serves all. */
const tooExpensive = new Error('the rules of this decision cost more than one decision may');
