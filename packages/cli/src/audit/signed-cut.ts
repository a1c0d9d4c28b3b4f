import { createPublicKey, verify } from 'node:crypto';
import { isObject } from '../is-object.ts';
import { canonicalJson } from './canonical-json.ts';

/** Public keys of a gateway, as its JWKS has them. */
export type Jwks = readonly Readonly<Record<string, unknown>>[];

/** What a cut vouches for: the last entry that was given up. */
export interface Cut {
  readonly throughSeq: number;
  readonly throughHash: string;
  /** A JWS over the two. */
  readonly signature: string;
}

/** The cut that an entry of the log speaks of, where it does. */
export function cutOf(entry: Readonly<Record<string, unknown>>): Cut | undefined {
  const { event_type: type, payload } = entry;
  if (type !== 'AuditLogCut' || !isObject(payload)) return undefined;
  const { through_seq: throughSeq, through_hash: throughHash, signature } = payload;
  const isWhole = typeof throughSeq === 'number' && typeof throughHash === 'string' && typeof signature === 'string';
  return isWhole ? { throughSeq, throughHash, signature } : undefined;
}

/** Whether a key of the gateway has signed it. */
export function isSigned({ throughSeq, throughHash, signature }: Cut, keys: Jwks): boolean {
  const [head = '', text = '', signed = ''] = signature.split('.');
  try {
    const header: unknown = JSON.parse(decoded(head).toString());
    if (!isObject(header) || header['alg'] !== 'EdDSA') return false;
    const key = keys.find((jwk) => jwk['kid'] === header['kid']);
    if (key === undefined) return false;
    const says = canonicalJson({ through_hash: throughHash, through_seq: throughSeq });
    const publicKey = createPublicKey({ key, format: 'jwk' });
    return (
      decoded(text).toString() === says && verify(null, Buffer.from(`${head}.${text}`), publicKey, decoded(signed))
    );
  } catch {
    return false;
  }
}

function decoded(part: string): Buffer {
  return Buffer.from(part, 'base64url');
}
