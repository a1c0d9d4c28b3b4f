import type { ApiKeyRecord } from '../access/api-key.ts';
import type { SigningKeyRecord } from '../access/signing-key.ts';
import type { Governance } from '../governance.ts';
import { operatorKey } from './requests.ts';

/** The credentials of a governance, with these keys and no others. Without any, it knows the operator. */
export function credentialRings(
  { keys, callers, ended }: Governance,
  apiKeys: readonly ApiKeyRecord[] = [operatorKey],
  signingKeyRecords: readonly SigningKeyRecord[] = [],
) {
  const { signingKeys } = callers;
  keys.beginReading();
  keys.renew(apiKeys);
  signingKeys.beginReading();
  signingKeys.renew(signingKeyRecords);
  return { keys, signingKeys, callers, ended };
}
