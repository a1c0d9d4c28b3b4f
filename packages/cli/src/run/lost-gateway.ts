import type { ConnectionEvent } from '@reeve/sdk';
import type { LostGateway } from './profile.ts';

const patienceMs = 30_000;

export interface Losing {
  readonly way: LostGateway;
  readonly onLost: (way: Exclude<LostGateway, 'continue'>) => void;
  readonly onBack: () => void;
  /** The credential does not count any more, so the gateway will never come back for this program. */
  readonly onRefused: (reason: string) => void;
}

/** Watches the way to the gateway while the program runs. */
export class GatewayWatch implements Disposable {
  readonly #losing: Losing;
  #timer: NodeJS.Timeout | undefined;
  #isLost = false;

  constructor(losing: Losing) {
    this.#losing = losing;
  }

  hear(event: ConnectionEvent): void {
    const { way, onBack, onRefused } = this.#losing;
    if (event.type === 'connected') {
      this[Symbol.dispose]();
      if (this.#isLost) onBack();
      this.#isLost = false;
    } else if (event.type === 'lost') {
      if (way !== 'continue') this.#timer ??= setTimeout(() => this.#lose(way), patienceMs);
    } else onRefused(event.reason);
  }

  #lose(way: Exclude<LostGateway, 'continue'>): void {
    this.#isLost = true;
    this.#losing.onLost(way);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
