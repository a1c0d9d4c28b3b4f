import type { JsonId } from './protocol/message.ts';
import { keyOf } from './protocol/message.ts';

const most = 10_000;

/**
 * Ids of requests whose answers nobody gets. Some servers answer all the same. Under an id that is used again, that
 * answer would pass for another one: a result that is held back would reach the client, or a call would seem to be over.
 */
export class AbandonedIds {
  readonly #ids = new Map<string, 'withheld' | 'cancelled'>();

  /** An operator has stopped the call, or the client has cancelled it while the server was at it. */
  withhold(id: JsonId): void {
    this.#add(id, 'withheld');
  }

  /** The client has cancelled a request that is not governed. */
  cancel(id: JsonId): void {
    if (!this.isWithheld(id)) this.#add(id, 'cancelled');
  }

  isWithheld(id: JsonId): boolean {
    return this.#ids.get(keyOf(id)) === 'withheld';
  }

  /** Whether a new request may not have the id. What is not governed may take the one of a cancelled request. */
  isBarred(id: JsonId, isGoverned: boolean): boolean {
    return this.#ids.get(keyOf(id)) === 'withheld' || (isGoverned && this.#ids.has(keyOf(id)));
  }

  /** The server has answered. */
  answered(id: JsonId): void {
    this.#ids.delete(keyOf(id));
  }

  #add(id: JsonId, why: 'withheld' | 'cancelled'): void {
    const [oldest] = this.#ids.keys();
    if (oldest !== undefined && this.#ids.size >= most) this.#ids.delete(oldest);
    this.#ids.set(keyOf(id), why);
  }
}
