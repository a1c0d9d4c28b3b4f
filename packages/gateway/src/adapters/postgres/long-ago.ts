/** How long a gateway may be away and still find what it has missed. */
const keptMs = 600_000;
const noteEveryMs = 60_000;

/** Says which commit was the newest one long enough ago for every gateway to have followed it. */
export class LongAgo {
  #noted: { readonly at: number; readonly version: number }[] = [];

  /** `version` is the newest one now. Undefined if nothing is known of that time. */
  through(version: number): number | undefined {
    const now = performance.now();
    const newest = this.#noted.at(-1);
    if (newest === undefined || newest.at <= now - noteEveryMs) this.#noted.push({ at: now, version });
    const old = this.#noted.findLast(({ at }) => at <= now - keptMs);
    if (old !== undefined) this.#noted = this.#noted.filter(({ at }) => at >= old.at);
    return old?.version;
  }
}
