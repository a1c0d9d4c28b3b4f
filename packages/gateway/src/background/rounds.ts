import type { Policies } from '@reeve/core';

/** What a round needs of the journal. */
type Turns = Pick<Policies['journal'], 'committed' | 'nextTurn'>;

/**
 * Work that comes round again and again beside the calls. No round starts while the one before is under way, and stopping
 * ends what is in the middle of one and waits for it: nothing of it runs on once the store is closed.
 */
export class Rounds {
  readonly #onError: (error: unknown) => void;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #running = new Set<Promise<void>>();
  #stopped = false;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** For work that goes on for long to end early. */
  get stopped(): boolean {
    return this.#stopped;
  }

  every(ms: number, work: () => void): void {
    if (!this.#stopped) this.#timers.push(setInterval(work, ms));
  }

  /** What returned starts a round of `work`, unless one is under way. */
  of(work: () => Promise<void>): () => void {
    let busy = false;
    return () => {
      if (busy || this.#stopped) return;
      busy = true;
      const running = work()
        .catch(this.#onError)
        .finally(() => {
          busy = false;
          this.#running.delete(running);
        });
      this.#running.add(running);
    };
  }

  /**
   * A round that does `step` once a turn of the event loop for as long as there is more to do, and then `then`. Where a
   * step cannot be made durable, the rest waits for the next round: there would always be more to do.
   */
  ofSteps(journal: Turns, step: () => boolean, then: () => void = () => undefined): () => void {
    return this.of(async () => {
      while (step()) {
        const isDurable = await journal.committed().then(
          () => true,
          () => false,
        );
        if (!isDurable || this.#stopped) return;
        await journal.nextTurn();
        if (this.#stopped) return;
      }
      then();
    });
  }

  /** No round starts any more; resolves when those under way have come to an end. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const timer of this.#timers) clearInterval(timer);
    await Promise.all(this.#running);
  }
}
