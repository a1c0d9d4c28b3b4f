import type { Facts, RunFacts, SpendFacts } from '@reeve/core';
import type { Subject } from '@reeve/core';
import { subjectOf } from '@reeve/core';
import { limitFault } from './faults.ts';

/** One evaluation: the facts, read at most once each, the variables of loops, and what is left to spend. */
export class Frame {
  readonly facts: Facts;
  readonly variables: unknown[] = [];
  #left: number;
  #args: unknown;
  #subject: Subject | undefined;
  #run: RunFacts | undefined;
  #spend: SpendFacts | undefined;

  constructor(facts: Facts, cost: number) {
    this.facts = facts;
    this.#left = cost;
  }

  /** Is called before work whose amount the request decides, with what it may cost at worst. */
  charge(units: number): void {
    this.#left -= units;
    if (this.#left < 0)
      throw limitFault('the condition costs more than one evaluation may; compare less, or less at once');
  }

  args(): unknown {
    this.#args ??= this.facts.args() ?? {};
    return this.#args;
  }

  /** The action as matchers see it, so that a condition and a matcher never disagree about a host or a path. */
  subject(): Subject {
    this.#subject ??= subjectOf(this.facts.action);
    return this.#subject;
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
