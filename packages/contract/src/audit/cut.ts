import { canonicalJson } from './canonical-json.ts';
import { isObject } from './is-object.ts';

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

/** What the signature of a cut must be over. */
export function signedText({ throughSeq, throughHash }: Cut): string {
  return canonicalJson({ through_hash: throughHash, through_seq: throughSeq });
}
