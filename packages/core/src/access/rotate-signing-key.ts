import { canonicalJson } from '../audit/canonical-json.ts';
import { draftOf } from '../audit/entry.ts';
import type { Actor } from '../audit/entry.ts';
import type { Access } from './access.ts';
import type { SigningKeyRecord } from './signing-key.ts';

/**
 * Signs with a new key from now on. The keys before it still verify, so that nobody is logged out; the private half of
 * one that no token in force was signed by is given up.
 */
export async function rotateSigningKey(access: Access, actor: Actor, requestId?: string): Promise<SigningKeyRecord> {
  const { mint, signingKeys } = access;
  const key = await mint.makeKey(access.clock.now());
  signingKeys.add(key);
  access.journal.write({ kind: 'signing_key_saved', key });
  access.journal.onFailure(() => signingKeys.remove(key.kid));
  for (const old of signingKeys.outlived(access.clock.now(), access.tokenTtlMs)) {
    // The public half stays: cuts of the audit log that it has signed are verified by it for good.
    const retired = { ...old, privateJwk: '' };
    signingKeys.add(retired);
    access.journal.write({ kind: 'signing_key_saved', key: retired });
    access.journal.onFailure(() => signingKeys.add(old));
  }
  const request = requestId === undefined ? {} : { request_id: requestId };
  access.journal.record(
    draftOf({
      at: access.clock.now(),
      eventType: 'SigningKeyRotated',
      actor,
      payload: canonicalJson({ ...request, kid: key.kid }),
    }),
  );
  await access.journal.committed();
  return key;
}
