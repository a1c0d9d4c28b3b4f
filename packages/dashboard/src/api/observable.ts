import { useSyncExternalStore } from 'react';

/** A value that changes, and its listeners. */
export class Observable<Value> {
  #value: Value;
  readonly #listeners = new Set<() => void>();
  readonly #onWatched: ((isWatched: boolean) => void) | undefined;

  /** `onWatched` is called when the first listener comes and when the last one goes. */
  constructor(value: Value, onWatched?: (isWatched: boolean) => void) {
    this.#value = value;
    this.#onWatched = onWatched;
  }

  get value(): Value {
    return this.#value;
  }

  set(value: Value): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    for (const listener of [...this.#listeners]) listener();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    if (this.#listeners.size === 1) this.#onWatched?.(true);
    return () => {
      if (this.#listeners.delete(listener) && this.#listeners.size === 0) this.#onWatched?.(false);
    };
  };

  readonly read = (): Value => this.#value;
}

export function useObservable<Value>(observable: Observable<Value>): Value {
  return useSyncExternalStore(observable.subscribe, observable.read);
}
