import type { Evaluation, Facts, ResultFacts, RunFacts, SpendFacts, Subject, User } from '@reeve/core';
import { fault, limitFault } from './faults.ts';

/** One evaluation of a condition: the facts, each read at most once, the loop variables, and the cost that is left. */
export class Frame {
  readonly facts: Facts | ResultFacts;
  readonly variables: unknown[] = [];
  readonly #evaluation: Evaluation;
  #args: unknown;
  #run: RunFacts | undefined;
  #spend: SpendFacts | undefined;
  #user: User | null | undefined;
  #result: unknown;

  constructor(facts: Facts | ResultFacts, evaluation: Evaluation) {
    this.facts = facts;
    this.#evaluation = evaluation;
  }

  /** Callers charge the worst-case cost before any work whose amount the request decides. */
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

  user(): User | null {
    if (this.#user === undefined) this.#user = this.facts.user();
    return this.#user;
  }

  /** Parsing takes as long as the text is. */
  result(): unknown {
    if (this.#result !== undefined) return this.#result;
    this.charge(this.resultText().length * priceOfParsing);
    this.#result = this.#ofResult().result();
    return this.#result;
  }

  resultText(): string {
    return this.#ofResult().resultText();
  }

  /** Conditions of rules on calls cannot name a result, so none asks for it here. */
  #ofResult(): ResultFacts {
    if ('result' in this.facts) return this.facts;
    throw fault('there is no result yet');
  }

  spend(): SpendFacts {
    this.#spend ??= this.facts.spend();
    return this.#spend;
  }
}

/** In units of cost, for each character. */
const priceOfParsing = 0.5;
