import type { ApiKeyRecord } from '../access/api-key.ts';
import { Callers } from '../access/callers.ts';
import { KeyRing } from '../access/key-ring.ts';
import type { SigningKeyRecord } from '../access/signing-key.ts';
import { SigningKeyRing } from '../access/signing-key.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Sha256 } from '../kernel/ports.ts';
import { operatorKey } from './requests.ts';

/** The keys of a gateway, and who may act by them. Without others, it knows the operator. */
export function credentialRings(
  { clock, sha256 }: { readonly clock: Clock; readonly sha256: Sha256 },
  apiKeys: readonly ApiKeyRecord[] = [operatorKey],
  signingKeyRecords: readonly SigningKeyRecord[] = [],
) {
  const keys = new KeyRing(clock, sha256, apiKeys);
  const signingKeys = new SigningKeyRing(signingKeyRecords);
  return { keys, signingKeys, callers: new Callers(clock, keys, signingKeys) };
}
