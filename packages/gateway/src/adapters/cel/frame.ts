import type { Evaluation, Facts, RunFacts, SpendFacts, Subject } from '@reeve/core';
import { limitFault } from './faults.ts';

/** A condition that is evaluated: the facts, read at most once each, the variables of loops, and what is left to spend. */
export class Frame {
  readonly facts: Facts;
  readonly variables: unknown[] = [];
  readonly #evaluation: Evaluation;
  #args: unknown;
  #run: RunFacts | undefined;
  #spend: SpendFacts | undefined;

  constructor(facts: Facts, evaluation: Evaluation) {
    this.facts = facts;
    this.#evaluation = evaluation;
  }

  /** Is called before work whose amount the request decides, with what it may cost at worst. */
  charge(units: number): void {
    if (this.#evaluation.take(units)) return;
    throw limitFault('the condition costs more than one evaluation may; compare less, or less at once');
  }

  args(): unknown {
    this.#args ??= this.facts.args() ?? {};
    return this.#args;
  }

  /** The action as matchers see it, so that a condition and a matcher never disagree about a host or a path. */
  subject(): Subject {
    return this.#evaluation.subject;
  }

  run(): RunFacts {
    this.#run ??= this.facts.run();
    return this.#run;
  }

  spend(): SpendFacts {
    this.#spend ??= this.facts.spend();
    return this.#spend;
  }
}
