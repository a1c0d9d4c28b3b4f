import type { ApiKeyRecord } from './api-key.ts';
import type { KnownCallers } from './callers.ts';
import type { KnownKeys } from './key-ring.ts';
import type { KnownSigningKeys, SigningKeyRecord, TokenMint } from './signing-key.ts';
import type { JournalOf } from '../journal/index.ts';
import type { EpochMs, Ports } from '../kernel/index.ts';

/** The dependencies of the credential use cases. */
export interface Access extends Ports {
  readonly keys: KnownKeys;
  readonly callers: KnownCallers;
  readonly signingKeys: KnownSigningKeys;
  readonly mint: TokenMint;
  readonly tokenTtlMs: number;
  readonly ended: EndedCredentials;
  readonly journal: JournalOf<AccessChange, never>;
}

/** The rows that credentials write. */
export type AccessChange =
  | { readonly kind: 'api_key_saved'; readonly key: ApiKeyRecord }
  /** A key was used. The row keeps its other columns: another gateway may have revoked the key meanwhile. */
  | { readonly kind: 'api_key_used'; readonly id: string; readonly at: EpochMs }
  | { readonly kind: 'signing_key_saved'; readonly key: SigningKeyRecord }
  | { readonly kind: 'signing_key_removed'; readonly kid: string };

/** Receives the id of a credential that ended before its time. */
export type EndedListener = (credentialId: string) => void;

/**
 * Announces that credentials have ended: keys that are revoked, sessions that are over. Long-lived connections, such as
 * event streams, then check their caller again.
 */
export class EndedCredentials {
  readonly #listeners = new Set<EndedListener>();

  subscribe(listener: EndedListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Call this once the end is durable. */
  ended(credentialId: string): void {
    for (const listener of this.#listeners) listener(credentialId);
  }
}
