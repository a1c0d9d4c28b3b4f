import type { Action } from '../action/index.ts';
import type { EpochMs } from '../kernel/index.ts';
import type { Subject } from './subject.ts';
import type { AgentRecord } from '../tenancy/index.ts';

export interface PolicyFeatures {
  /** Compiles `when` expressions. Without it a rule that has one is refused rather than half enforced. */
  readonly compileCondition?: CompileCondition;
  /** How many rules a source may hold, where that is not the usual number. */
  readonly mostRules?: number;
  /** How many instructions its patterns may become, where that is not the usual number. */
  readonly mostInstructions?: number;
}

/** What has happened in the run that a check names. */
export interface RunFacts {
  readonly id: string;
  /** How many checks it has made before this one. */
  readonly checks: number;
  readonly spent_usd: number;
}

/** What a tier has spent and holds back, in the present day and month. */
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

/**
 * All that a condition may look at. What has to be looked up or parsed is asked for only when a condition comes to it,
 * and at most once per evaluation.
 */
export interface Facts {
  readonly agent: AgentRecord;
  readonly depth: number;
  readonly action: Action;
  readonly now: EpochMs;
  readonly costUsd: number;
  /** The parsed `args_json`; an empty object where there is none. */
  args(): unknown;
  run(): RunFacts;
  spend(): SpendFacts;
}

/**
 * A compiled `when`. It may throw, as where a member is missing or nothing is left to spend; what that means is the
 * evaluator's to say. Without an evaluation it is judged by itself.
 */
export interface Condition {
  (facts: Facts, evaluation?: Evaluation): boolean;
  /** How many instructions its patterns have become; absent where it has none. */
  readonly instructions?: number;
}

/** Compiles and type-checks the text of a `when`; throws a `ConditionError` that says what is wrong, and where. */
export type CompileCondition = (source: string, author?: ConditionAuthor) => Condition;

/** Who has written a condition. A tenant's does not look at `spend.global`. */
export type ConditionAuthor = 'operator' | 'tenant';

/** What a condition asks for is not known of a decision that is looked at again later. */
export class NotRecorded extends Error {
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
 * What all rules of one decision may cost together, those of every tier and of documents that are only observed. A unit
 * is about 10 ns, so the worst decision takes a few milliseconds.
 */
export const decisionCost = 250_000;

/** Judging one action: the action as matchers see it, and what is left to spend on it. */
export class Evaluation {
  readonly subject: Subject;
  #left: number;

  constructor(subject: Subject, cost: number = decisionCost) {
    this.subject = subject;
    this.#left = cost;
  }

  /** Once there is too little left, there is nothing left for anybody. */
  get isSpent(): boolean {
    return this.#left < 0;
  }

  /** Is called before work whose amount a policy or a request decides, with what it may cost; says whether it may be done. */
  take(units: number): boolean {
    this.#left -= units;
    return this.#left >= 0;
  }

  /** The same for matchers, which end in an error. */
  readonly charge = (units: number): void => {
    if (!this.take(units)) throw tooExpensive;
  };
}

/** It is about a policy and a request, not about this code: one will do for all. */
const tooExpensive = new Error('the rules of this decision cost more than one decision may');
