import type { JsonWebKey } from 'node:crypto';
import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';

/** A bare signature over a text, in base64url. */
export function signText(text: string, privateJwk: string): string {
  const key = createPrivateKey({ key: JSON.parse(privateJwk) as JsonWebKey, format: 'jwk' });
  return sign(null, Buffer.from(text), key).toString('base64url');
}

export function isSignedText(text: string, signature: string, publicJwk: string): boolean {
  try {
    const key = createPublicKey({ key: JSON.parse(publicJwk) as JsonWebKey, format: 'jwk' });
    return verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64url'));
  } catch {
    return false;
  }
}
