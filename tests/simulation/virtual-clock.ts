import type { Clock } from '@reeve/core';

const noon = Date.UTC(2026, 0, 15, 12);

/** The time of the simulated world. It passes only when a step says so. */
export class VirtualTime {
  #elapsed = 0;

  get elapsed(): number {
    return this.#elapsed;
  }

  /** By a clock that is right. */
  get now(): number {
    return noon + this.#elapsed;
  }

  advance(ms: number): void {
    this.#elapsed += ms;
  }
}

/** The clock of one gateway. Its wall clock may be wrong; its monotonic clock begins when it starts. */
export class VirtualClock implements Clock {
  readonly #time: VirtualTime;
  readonly #startedAt: number;
  /** By how much the wall clock is ahead. */
  aheadMs: number;

  constructor(time: VirtualTime, aheadMs: number) {
    this.#time = time;
    this.#startedAt = time.elapsed;
    this.aheadMs = aheadMs;
  }

  now(): number {
    return this.#time.now + this.aheadMs;
  }

  elapsed(): number {
    return this.#time.elapsed - this.#startedAt + 1000;
  }
}
