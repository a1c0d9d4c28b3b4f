import { setTimeout as sleep } from 'node:timers/promises';
import type { Governance } from '@reeve/core';
import { ReeveError } from '@reeve/core';

/** The part of the journal that a round needs. */
type Turns = Pick<Governance['journal'], 'ownTurn' | 'nextTurn'>;

/**
 * Recurring work beside the calls. No round starts while the previous one runs. Stopping ends a round in the middle and
 * waits for it, so that none runs on once the store is closed.
 */
export class Rounds {
  readonly #onError: (error: unknown) => void;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #running = new Set<Promise<void>>();
  readonly #stopping = new AbortController();

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** Lets long-running work end early. */
  get stopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  every(ms: number, work: () => void): void {
    if (!this.stopped) this.#timers.push(setInterval(work, ms));
  }

  /** Returns a function that starts a round of `work`, unless one is running. */
  of(work: () => Promise<void>): () => void {
    let busy = false;
    return () => {
      if (busy || this.stopped) return;
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
   * A round that runs `step` once per turn of the event loop while there is more to do. Each step is a turn of the
   * journal, which is done again if another gateway was first. If a step cannot be made durable, the rest waits for the
   * next round, because it would never end. A pause after each step keeps long work from slowing down the calls.
   */
  ofTurns(journal: Turns, step: () => boolean, pauseMs = 0): () => void {
    return this.of(async () => {
      const turn = () =>
        journal.ownTurn(step).catch((error: unknown) => {
          // The store is tried again anyway, and whoever watches it reports it.
          if (!(error instanceof ReeveError && error.code === 'store_unavailable')) this.#onError(error);
          return false;
        });
      while (await turn()) {
        if (this.stopped) return;
        await (pauseMs === 0 ? journal.nextTurn() : this.#pause(pauseMs));
        if (this.stopped) return;
      }
    });
  }

  async #pause(ms: number): Promise<void> {
    const { signal } = this.#stopping;
    await sleep(ms, undefined, { signal }).catch(() => undefined);
  }

  /** Starts no more rounds; resolves when the running ones have ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    for (const timer of this.#timers) clearInterval(timer);
    await Promise.all(this.#running);
  }
}
