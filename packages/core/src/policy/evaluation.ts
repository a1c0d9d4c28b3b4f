import type { Subject } from './subject.ts';

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
