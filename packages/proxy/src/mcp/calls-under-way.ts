/** Calls that go on by themselves. */
export class CallsUnderWay {
  readonly #calls = new Set<Promise<void>>();
  readonly #warn: (line: string) => void;

  constructor(warn: (line: string) => void) {
    this.#warn = warn;
  }

  add(work: Promise<void>): void {
    const failed = (error: unknown) => this.#warn(`a call failed: ${String(error)}`);
    const call: Promise<void> = work.catch(failed).finally(() => this.#calls.delete(call));
    this.#calls.add(call);
  }

  async ended(): Promise<void> {
    await Promise.allSettled(this.#calls);
  }

  /** Resolves when they have ended, or after so many milliseconds. */
  async endedWithin(ms: number): Promise<void> {
    const patience = new Promise((resolve) => setTimeout(resolve, ms).unref());
    await Promise.race([this.ended(), patience]);
  }
}
