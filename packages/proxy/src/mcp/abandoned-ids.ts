import type { JsonId } from './protocol/message.ts';
import { keyOf } from './protocol/message.ts';

const most = 10_000;

/**
 * Ids of requests whose answers nobody gets. Some servers answer all the same. Under an id that is used again, that
 * answer would pass for another one: a result that is held back would reach the client, or a call would seem to be over.
 */
export class AbandonedIds {
  readonly #withheld = new Set<string>();
  readonly #cancelled = new Set<string>();

  /** Whether no further request may be begun: none of these may be forgotten, and there is no room for more. */
  get isFull(): boolean {
    return this.#withheld.size >= most;
  }

  /** An operator has stopped the call, or the client has cancelled it while the server was at it. */
  withhold(id: JsonId): void {
    this.#withheld.add(keyOf(id));
  }

  /** The client has cancelled a request that is not governed. */
  cancel(id: JsonId): void {
    const [oldest] = this.#cancelled;
    if (oldest !== undefined && this.#cancelled.size >= most) this.#cancelled.delete(oldest);
    this.#cancelled.add(keyOf(id));
  }

  isWithheld(id: JsonId): boolean {
    return this.#withheld.has(keyOf(id));
  }

  /** Whether a new request may not have the id. What is not governed may take the one of a cancelled request. */
  isBarred(id: JsonId, isGoverned: boolean): boolean {
    return this.isWithheld(id) || (isGoverned && this.#cancelled.has(keyOf(id)));
  }

  /** The server has answered. */
  answered(id: JsonId): void {
    this.#withheld.delete(keyOf(id));
    this.#cancelled.delete(keyOf(id));
  }
}
