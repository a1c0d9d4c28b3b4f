import type { EventQueue } from './event-queue.ts';

/** What only so many can have at once. Others wait in the order in which they came. */
export class Resource {
  readonly #queue: EventQueue;
  readonly #waiting: (() => void)[] = [];
  #free: number;
  #takenAt = 0;
  heldFor = 0;

  constructor(queue: EventQueue, size: number) {
    this.#queue = queue;
    this.#free = size;
  }

  take(work: () => void): void {
    if (this.#free === 0) {
      this.#waiting.push(work);
      return;
    }
    this.#free--;
    this.#takenAt = this.#queue.now;
    work();
  }

  release(): void {
    this.heldFor += this.#queue.now - this.#takenAt;
    this.#free++;
    const next = this.#waiting.shift();
    if (next !== undefined) this.take(next);
  }
}

/** What a simulation leaves out at its beginning. */
export const warmUpMicros = 500_000;

/** Processors of the server that work at once on commits of separate chains. */
export const serverCores = 8;
