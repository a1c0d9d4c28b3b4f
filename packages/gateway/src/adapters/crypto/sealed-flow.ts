import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { SigningKeyRecord, KnownSigningKeys } from '@reeve/core';

const algorithm = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;
/** Nothing that was sealed here is longer. */
const longest = 8192;

/**
 * Seals a text that a browser keeps for the gateway: nobody can read or change it. The key comes from the key that
 * signs tokens. All gateways on a store share that, so any of them opens what another has sealed.
 */
export function sealFlow(text: string, keys: KnownSigningKeys): string {
  const key = keys.current;
  if (key === undefined) throw new Error('there is no signing key');
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv(algorithm, secretOf(key), iv);
  const sealed = [cipher.update(text, 'utf8'), cipher.final()];
  return `${key.kid}.${Buffer.concat([iv, cipher.getAuthTag(), ...sealed]).toString('base64url')}`;
}

/** The text, if a gateway on this store has sealed it. */
export function openFlow(sealed: string, keys: KnownSigningKeys): string | undefined {
  const [kid = '', body = ''] = sealed.length > longest ? [] : sealed.split('.');
  const key = keys.findForTokens(kid);
  if (key === undefined) return undefined;
  try {
    const bytes = Buffer.from(body, 'base64url');
    const decipher = createDecipheriv(algorithm, secretOf(key), bytes.subarray(0, ivBytes), {
      authTagLength: tagBytes,
    });
    decipher.setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
    return decipher.update(bytes.subarray(ivBytes + tagBytes), undefined, 'utf8') + decipher.final('utf8');
  } catch {
    return undefined;
  }
}

function secretOf({ kid, privateJwk }: SigningKeyRecord): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', privateJwk, kid, 'reeve single sign-on', 32));
}
