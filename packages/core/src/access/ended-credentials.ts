/** Told the id of a credential that has ended before its time. */
export type EndedListener = (credentialId: string) => void;

/**
 * Passes on that credentials have ended: keys that are revoked, sessions that are over. What stays open for long, such
 * as a stream of events, looks again at who opened it.
 */
export class EndedCredentials {
  readonly #listeners = new Set<EndedListener>();

  subscribe(listener: EndedListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** To be called once the end is durable. */
  ended(credentialId: string): void {
    for (const listener of this.#listeners) listener(credentialId);
  }
}
