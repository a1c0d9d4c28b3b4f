import type { EpochMs } from '../../kernel/index.ts';

/** A window is counted in this many steps, however many checks there are and however long it is. */
const stepsOfWindow = 4096;

/** So much may the clocks of gateways differ. Whose clock is behind counts what is older for others. */
export const clocksDifferMs = 60_000;

/** A counter as it is stored: pairs of a step and its count, each step but the first as the distance to the one before. */
export interface SavedCounts {
  readonly steps: readonly number[];
  /** When somebody was told that so many percent are used up. */
  readonly told: Readonly<Record<string, EpochMs>>;
}

/**
 * Counts checks in a sliding window, by the times that facts name.
 *
 * It keeps how many there were in each step of the window. A check counts from its time on until its whole step is over
 * for as long as the window: for the window, and for less than one step more. So no window ever holds more checks than
 * the maximum, wherever it begins. Windows of up to four seconds are counted by the millisecond.
 *
 * Checks up to one window ahead count, too: clocks of gateways differ. What is further ahead was counted by a wrong
 * clock, and shares no window with the present.
 *
 * The order in which checks are added makes no difference. So gateways that learn of them in another order agree.
 */
export class RateCounter {
  readonly windowMs: number;
  readonly #stepMs: number;
  /** In order, each once. */
  readonly #steps: number[] = [];
  readonly #counts: number[] = [];
  readonly #told = new Map<number, EpochMs>();

  constructor(windowMs: number, saved?: SavedCounts) {
    this.windowMs = windowMs;
    this.#stepMs = Math.ceil(windowMs / stepsOfWindow);
    if (saved !== undefined) this.#restore(saved);
  }

  get isEmpty(): boolean {
    return this.#steps.length === 0;
  }

  /** The end of the newest step. Nothing counts any more a window after it. */
  get endsAt(): EpochMs {
    return ((this.#steps.at(-1) ?? -1) + 1) * this.#stepMs;
  }

  /** Adds checks, or takes them back by a negative number. */
  add(at: EpochMs, by = 1): void {
    const step = Math.floor(at / this.#stepMs);
    const place = this.#placeOf(step);
    if (this.#steps[place] !== step) {
      if (by <= 0) return;
      this.#steps.splice(place, 0, step);
      this.#counts.splice(place, 0, by);
      return;
    }
    const count = (this.#counts[place] ?? 0) + by;
    if (count > 0) this.#counts[place] = count;
    else {
      this.#steps.splice(place, 1);
      this.#counts.splice(place, 1);
    }
  }

  /**
   * Forgets what counts for no gateway: what is older than two windows before the newest, by any of their clocks. If there
   * are more steps than three windows have, clocks that differ do not matter. Returns it, as times and counts. `at` is the
   * time of a check: what was counted far ahead of it, by a wrong clock, does not make it old.
   */
  forgetOld(at: EpochMs): readonly (readonly [at: EpochMs, count: number])[] {
    const until = Math.min(this.endsAt, at + this.windowMs + clocksDifferMs) - 2 * this.windowMs;
    const isOld = (step = 0, ms = 0) => (step + 1) * this.#stepMs <= until - ms;
    let old = 0;
    while (isOld(this.#steps[old], this.#steps.length - old > 3 * stepsOfWindow ? 0 : clocksDifferMs)) old++;
    if (old === 0) return nothing;
    const counts = this.#counts.splice(0, old);
    return this.#steps.splice(0, old).map((step, nth) => [step * this.#stepMs, counts[nth] ?? 0] as const);
  }

  /** How many checks count at a time. */
  countAt(now: EpochMs): number {
    let count = 0;
    for (let at = this.#steps.length - 1; at >= 0; at--) {
      const step = this.#steps[at] ?? 0;
      if (this.#isOver(step, now)) break;
      if (step * this.#stepMs <= now + this.windowMs) count += this.#counts[at] ?? 0;
    }
    return count;
  }

  /** When fewer than `max` count, if no more come. `now` if that is so already. */
  roomAt(now: EpochMs, max: number): EpochMs {
    let left = this.countAt(now);
    if (left < max) return now;
    for (const [at, step] of this.#steps.entries()) {
      if (this.#isOver(step, now)) continue;
      left -= this.#counts[at] ?? 0;
      if (left < max) return (step + 1) * this.#stepMs - 1 + this.windowMs;
    }
    return now;
  }

  /** When somebody was last told of this share. */
  toldAt(percent: number): EpochMs | undefined {
    return this.#told.get(percent);
  }

  /** Somebody was told of a share. Returns the time before. */
  tell(percent: number, at: EpochMs | undefined): EpochMs | undefined {
    const before = this.#told.get(percent);
    if (at === undefined) this.#told.delete(percent);
    else this.#told.set(percent, at);
    return before;
  }

  /** As it is without some of its checks. */
  saved(without: Iterable<EpochMs> = []): SavedCounts {
    const copy = new RateCounter(this.windowMs);
    for (const [at, step] of this.#steps.entries()) copy.#append(step, this.#counts[at] ?? 0);
    for (const at of without) copy.add(at, -1);
    const steps: number[] = [];
    let before = 0;
    for (const [at, step] of copy.#steps.entries()) {
      steps.push(step - before, copy.#counts[at] ?? 0);
      before = step;
    }
    return { steps, told: Object.fromEntries(this.#told) };
  }

  #restore({ steps, told }: SavedCounts): void {
    let step = 0;
    for (let at = 0; at + 1 < steps.length; at += 2) {
      step += steps[at] ?? 0;
      this.#append(step, steps[at + 1] ?? 0);
    }
    for (const [percent, at] of Object.entries(told)) this.#told.set(Number(percent), at);
  }

  #append(step: number, count: number): void {
    this.#steps.push(step);
    this.#counts.push(count);
  }

  /** Whether the last millisecond of the step lies before the window that ends now. */
  #isOver(step: number, now: EpochMs): boolean {
    return (step + 1) * this.#stepMs - 1 <= now - this.windowMs;
  }

  /** Where the step is, or would be. Mostly it is the newest. */
  #placeOf(step: number): number {
    let from = 0;
    let to = this.#steps.length;
    const last = this.#steps[to - 1];
    if (last === undefined || last < step) return to;
    if (last === step) return to - 1;
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((this.#steps[middle] ?? 0) < step) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}

const nothing: readonly never[] = [];
