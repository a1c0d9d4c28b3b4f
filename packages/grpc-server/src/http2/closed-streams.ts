import type { FrameState } from './stream-state.ts';

const remembered = 64;

/** How the streams closed last were closed. What the peer sends may have left before it knew. */
export class ClosedStreams {
  /** Ids of streams that this side reset are negative. */
  readonly #ring = new Int32Array(remembered);
  #next = 0;

  add(id: number, isResetByUs: boolean): void {
    this.#ring[this.#next] = isResetByUs ? -id : id;
    this.#next = (this.#next + 1) % remembered;
  }

  stateOf(id: number): Extract<FrameState, 'ended' | 'resetByUs' | 'forgotten'> {
    if (this.#ring.includes(-id)) return 'resetByUs';
    return this.#ring.includes(id) ? 'ended' : 'forgotten';
  }
}
