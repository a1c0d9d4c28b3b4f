import { createPublicKey, verify } from 'node:crypto';
import type { Cut } from '@reeve/contract/audit';
import { signedText } from '@reeve/contract/audit';
import { isObject } from '../is-object.ts';

/** Public keys of a gateway, from its JWKS. */
export type Jwks = readonly Readonly<Record<string, unknown>>[];

/** Whether a gateway key signed the cut. */
export function isSigned(cut: Cut, keys: Jwks): boolean {
  const [head = '', text = '', signed = ''] = cut.signature.split('.');
  try {
    const header: unknown = JSON.parse(decoded(head).toString());
    if (!isObject(header) || header['alg'] !== 'EdDSA') return false;
    const key = keys.find((jwk) => jwk['kid'] === header['kid']);
    if (key === undefined) return false;
    const publicKey = createPublicKey({ key, format: 'jwk' });
    return (
      decoded(text).toString() === signedText(cut) &&
      verify(null, Buffer.from(`${head}.${text}`), publicKey, decoded(signed))
    );
  } catch {
    return false;
  }
}

function decoded(part: string): Buffer {
  return Buffer.from(part, 'base64url');
}
