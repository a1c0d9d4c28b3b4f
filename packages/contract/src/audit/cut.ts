import { canonicalJson } from './canonical-json.ts';
import { isObject } from './is-object.ts';

/** The entry that a cut vouches for: the last one removed. */
export interface Cut {
  readonly throughSeq: number;
  readonly throughHash: string;
  /** A JWS over the other two members. */
  readonly signature: string;
}

/** The cut that a log entry records, if it does. */
export function cutOf(entry: Readonly<Record<string, unknown>>): Cut | undefined {
  const { event_type: type, payload } = entry;
  if (type !== 'AuditLogCut' || !isObject(payload)) return undefined;
  const { through_seq: throughSeq, through_hash: throughHash, signature } = payload;
  const isWhole = typeof throughSeq === 'number' && typeof throughHash === 'string' && typeof signature === 'string';
  return isWhole ? { throughSeq, throughHash, signature } : undefined;
}

/** The text that the signature of a cut covers. */
export function signedText({ throughSeq, throughHash }: Cut): string {
  return canonicalJson({ through_hash: throughHash, through_seq: throughSeq });
}
