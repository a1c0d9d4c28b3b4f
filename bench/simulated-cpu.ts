import type { EventQueue } from './event-queue.ts';

/** A thread that does one thing after the other. What concerns commits goes before new calls. */
export class SimulatedCpu {
  readonly #queue: EventQueue;
  readonly #urgent: Job[] = [];
  readonly #calls: Job[] = [];
  #nextCall = 0;
  #isBusy = false;
  /** How long it has worked in all. */
  worked = 0;

  constructor(queue: EventQueue) {
    this.#queue = queue;
  }

  /** How long the work takes is asked when it begins. */
  urgently(cost: () => number, done: () => void): void {
    this.#urgent.push({ cost, done });
    this.#begin();
  }

  call(cost: () => number, done: () => void): void {
    this.#calls.push({ cost, done });
    this.#begin();
  }

  #begin(): void {
    if (this.#isBusy) return;
    const job = this.#urgent.shift() ?? this.#calls[this.#nextCall++];
    if (job === undefined) {
      this.#calls.length = 0;
      this.#nextCall = 0;
      return;
    }
    this.#isBusy = true;
    const cost = job.cost();
    this.worked += cost;
    this.#queue.after(cost, () => {
      this.#isBusy = false;
      job.done();
      this.#begin();
    });
  }
}

interface Job {
  readonly cost: () => number;
  readonly done: () => void;
}
