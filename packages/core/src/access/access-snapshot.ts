import type { ApiKeyRecord } from './api-key.ts';
import type { SigningKeyRecord } from './signing-key.ts';

/** The credentials that a start loads from the store. */
export interface AccessSnapshot {
  readonly apiKeys: readonly ApiKeyRecord[];
  readonly signingKeys: readonly SigningKeyRecord[];
}
