import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectionEvent } from '@reeve/sdk';
import type { LostGateway } from './profile.ts';

const patienceMs = 30_000;

export interface Losing {
  readonly way: LostGateway;
  /** Resolves once that is done. */
  readonly onLost: (way: Exclude<LostGateway, 'continue'>) => Promise<void>;
  readonly onBack: () => void;
  /** The credential does not count any more, so the gateway will never come back for this program. */
  readonly onRefused: (reason: string) => void;
}

/** Watches the way to the gateway while the program runs. */
export class GatewayWatch implements Disposable {
  readonly #losing: Losing;
  readonly #patienceMs: number;
  #timer: NodeJS.Timeout | undefined;
  /** What follows from the loss, while the gateway is lost. */
  #lost: Promise<void> | undefined;

  constructor(losing: Losing, patience = patienceMs) {
    this.#losing = losing;
    this.#patienceMs = patience;
  }

  hear(event: ConnectionEvent): void {
    const { onRefused } = this.#losing;
    if (event.type === 'connected') {
      this[Symbol.dispose]();
      this.#back();
    } else if (event.type === 'lost') this.#timer ??= setTimeout(() => void this.#lose(), this.#patienceMs);
    else onRefused(event.reason);
  }

  /** Waits until the gateway is heard; or, if it is not in time, until what follows from that is done. */
  async until(heard: Promise<void>): Promise<void> {
    const late = new AbortController();
    const lost = sleep(this.#patienceMs, undefined, { signal: late.signal }).then(() => this.#lose());
    // It may be heard later, on the stream that there is: then no other event says so.
    void heard.then(
      () => this.#back(),
      () => {},
    );
    await Promise.race([heard, lost]).finally(() => late.abort());
  }

  #back(): void {
    if (this.#lost !== undefined) this.#losing.onBack();
    this.#lost = undefined;
  }

  #lose(): Promise<void> {
    const { way, onLost } = this.#losing;
    if (way === 'continue') return Promise.resolve();
    return (this.#lost ??= onLost(way));
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
