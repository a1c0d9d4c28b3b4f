import type { ApiKeyRecord } from './api-key.ts';
import type { KeyRing } from './key-ring.ts';
import type { SigningKeyRing, SigningKeyRecord, TokenMint } from './signing-key.ts';
import type { JournalOf } from '../journal/index.ts';
import type { EpochMs, Ports } from '../kernel/index.ts';

/** What the use cases about credentials work on. */
export interface Access extends Ports {
  readonly keys: KeyRing;
  readonly signingKeys: SigningKeyRing;
  readonly mint: TokenMint;
  readonly tokenTtlMs: number;
  readonly ended: EndedCredentials;
  readonly journal: JournalOf<AccessChange, never>;
}

/** The rows that credentials write. */
export type AccessChange =
  | { readonly kind: 'api_key_saved'; readonly key: ApiKeyRecord }
  /** A key was used; whatever else is known of it stays, such as that another gateway has revoked it meanwhile. */
  | { readonly kind: 'api_key_used'; readonly id: string; readonly at: EpochMs }
  | { readonly kind: 'signing_key_saved'; readonly key: SigningKeyRecord }
  | { readonly kind: 'signing_key_removed'; readonly kid: string };

/** What a start brings back of credentials. */
export interface AccessSnapshot {
  readonly apiKeys: readonly ApiKeyRecord[];
  readonly signingKeys: readonly SigningKeyRecord[];
}

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
