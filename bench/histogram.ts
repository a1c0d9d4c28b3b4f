const stepsPerDoubling = 64;

/** Counts of durations in whole microseconds, in steps of at most 1.6 %. It is small, and adding is cheap. */
export class Histogram {
  readonly #counts: number[];
  #total = 0;

  constructor(counts: readonly number[] = []) {
    this.#counts = [...counts];
    for (const count of counts) this.#total += count;
  }

  get total(): number {
    return this.#total;
  }

  /** For sending to another process. */
  get counts(): readonly number[] {
    return this.#counts;
  }

  record(micros: number): void {
    const at = indexOf(Math.max(0, Math.min(Math.round(micros), 2 ** 30)));
    while (this.#counts.length <= at) this.#counts.push(0);
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    this.#total++;
  }

  add(other: readonly number[]): void {
    other.forEach((count, at) => {
      while (this.#counts.length <= at) this.#counts.push(0);
      this.#counts[at] = (this.#counts[at] ?? 0) + count;
      this.#total += count;
    });
  }

  /** The duration that `share` (0 to 1) of the recorded ones do not exceed; NaN if there are none. */
  quantile(share: number): number {
    if (this.#total === 0) return Number.NaN;
    const wanted = Math.ceil(this.#total * share);
    let seen = 0;
    for (const [at, count] of this.#counts.entries()) {
      seen += count;
      if (seen >= wanted) return valueAt(at);
    }
    return valueAt(this.#counts.length - 1);
  }
}

function indexOf(micros: number): number {
  if (micros < stepsPerDoubling) return micros;
  const shift = 31 - Math.clz32(micros) - 6;
  return shift * stepsPerDoubling + (micros >> shift);
}

function valueAt(index: number): number {
  if (index < 2 * stepsPerDoubling) return index;
  const shift = Math.floor(index / stepsPerDoubling) - 1;
  return (stepsPerDoubling + (index % stepsPerDoubling)) * 2 ** shift;
}
