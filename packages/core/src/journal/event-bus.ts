export type Subscriber<Event> = (events: readonly Event[]) => void;

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

  publish(events: readonly Event[]): void {
    if (events.length === 0) return;
    for (const subscriber of this.#subscribers) {
      try {
        subscriber(events);
      } catch (error) {
        this.#onError(error);
      }
    }
  }
}
