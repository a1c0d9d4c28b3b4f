const pauseMs = 60_000;
const mostTexts = 100;

/** Passes errors on, but none more than once a minute: what fails once often fails at every attempt. */
export class RareErrors {
  readonly #onError: (error: Error) => void;
  readonly #elapsed: () => number;
  readonly #passedAt = new Map<string, number>();

  constructor(onError: (error: Error) => void, elapsed: () => number) {
    this.#onError = onError;
    this.#elapsed = elapsed;
  }

  /** Returns whether it was passed on. Errors of one kind count as the same, though their texts may differ. */
  report(text: string, kind = text): boolean {
    const now = this.#elapsed();
    if (now - (this.#passedAt.get(kind) ?? -pauseMs) < pauseMs) return false;
    // A server decides on its texts, so they must not gather.
    if (this.#passedAt.size >= mostTexts) this.#passedAt.clear();
    this.#passedAt.set(kind, now);
    this.#onError(new Error(text));
    return true;
  }
}
