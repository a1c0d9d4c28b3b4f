export type Subscriber<Event> = (events: readonly Event[]) => void;

/**
 * Hands events to whoever subscribed, in order, a turn's events at a time. A subscriber that throws is reported
 * and does not keep the others from theirs.
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
