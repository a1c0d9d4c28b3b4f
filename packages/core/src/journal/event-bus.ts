/** `isForeign`: they happened at another gateway. */
export type Subscriber<Event> = (events: readonly Event[], isForeign: boolean) => void;

/**
 * Hands events to its subscribers in order, one turn's events at a time. If a subscriber throws, the bus reports that
 * and still serves the others.
 */
export class EventBus<Event> {
  readonly #subscribers = new Set<Subscriber<Event>>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  subscribe(subscriber: Subscriber<Event>): () => void {
    this.#subscribers.add(subscriber);
    return () => this.#subscribers.delete(subscriber);
  }

  publish(events: readonly Event[], isForeign = false): void {
    if (events.length === 0) return;
    for (const subscriber of this.#subscribers) {
      try {
        subscriber(events, isForeign);
      } catch (error) {
        this.#onError(error);
      }
    }
  }
}
