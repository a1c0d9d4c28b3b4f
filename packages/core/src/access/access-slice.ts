import type { EpochMs } from '../kernel/clock.ts';
import type { ApiKeyRecord } from './api-key.ts';
import type { SigningKeyRecord } from './signing-key.ts';

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
