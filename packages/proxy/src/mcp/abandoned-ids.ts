import type { JsonId } from './protocol/message.ts';
import { keyOf } from './protocol/message.ts';

const most = 10_000;

/**
 * Ids of requests whose answers nobody gets. Some servers answer all the same. Under an id that is used again, that
 * answer would pass for another one: a result that is held back would reach the client, or a call would seem to be over.
 */
export class AbandonedIds {
  readonly #withheld = new Set<string>();
  readonly #numbers = new Set<number>();
  /** All whole numbers up to this one are withheld. */
  #upTo = Number.NEGATIVE_INFINITY;
  readonly #cancelled = new Set<string>();

  /** Whether no further request may be begun: none of these may be forgotten, and there is no room for more. */
  get isFull(): boolean {
    return this.#withheld.size >= most;
  }

  /** An operator has stopped the call, the client has cancelled it while the server was at it, or its result is denied. */
  withhold(id: JsonId): void {
    if (!isWhole(id)) return void this.#withheld.add(keyOf(id));
    this.#numbers.add(id);
    if (this.#numbers.size < most) return;
    // Clients that number their requests count them up, so that a session of these never ends by this.
    this.#upTo = Math.max(this.#upTo, ...this.#numbers);
    this.#numbers.clear();
  }

  /** The client has cancelled a request that is not governed. */
  cancel(id: JsonId): void {
    const [oldest] = this.#cancelled;
    if (oldest !== undefined && this.#cancelled.size >= most) this.#cancelled.delete(oldest);
    this.#cancelled.add(keyOf(id));
  }

  isWithheld(id: JsonId): boolean {
    return isWhole(id) ? id <= this.#upTo || this.#numbers.has(id) : this.#withheld.has(keyOf(id));
  }

  /** Whether a new request may not have the id. What is not governed may take the one of a cancelled request. */
  isBarred(id: JsonId, isGoverned: boolean): boolean {
    return this.isWithheld(id) || (isGoverned && this.#cancelled.has(keyOf(id)));
  }

  /** The server has answered. */
  answered(id: JsonId): void {
    if (isWhole(id)) this.#numbers.delete(id);
    this.#withheld.delete(keyOf(id));
    this.#cancelled.delete(keyOf(id));
  }
}

function isWhole(id: JsonId): id is number {
  return Number.isSafeInteger(id);
}
