/** Runs work after the answer that asked for it. A stop can wait for it. */
export class Afterwards {
  readonly #running = new Set<Promise<void>>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  run(work: () => Promise<void>): void {
    const running = new Promise((resolve) => {
      setImmediate(resolve);
    })
      .then(work)
      .catch(this.#onError)
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }
}
