import { ConnectionError } from './connection-error.ts';
import { errorCode } from './frame.ts';

/**
 * What a connection may have on its way to us, over all its streams. It says how fast a peer may send, not how much it
 * may leave unfinished: that is up to the windows of its streams.
 */
export class ReceiveWindow {
  readonly size = 4 * 1024 * 1024;
  #left = this.size;

  take(length: number): void {
    this.#left -= length;
    if (this.#left < 0) {
      throw new ConnectionError(errorCode.flowControlError, 'more DATA than the window of the connection');
    }
  }

  /** What to grant the peer now: nothing until half of the window is used up. */
  replenish(): number {
    if (this.#left > this.size / 2) return 0;
    const increment = this.size - this.#left;
    this.#left = this.size;
    return increment;
  }
}
