import { canonicalJson } from './canonical-json.ts';
import { isObject } from './is-object.ts';

/** The newest entry of a log at some time, signed by the gateway. One line of an anchor file. */
export interface Anchor {
  readonly seq: number;
  readonly hash: string;
  readonly at: string;
  /** The id of the gateway key that signed the anchor. */
  readonly kid: string;
  /** Ed25519 over `anchoredText`, in base64url. */
  readonly signature: string;
}

/** The text that an anchor's signature covers: its other members, in the canonical form of RFC 8785. */
export function anchoredText({ seq, hash, at, kid }: Omit<Anchor, 'signature'>): string {
  return canonicalJson({ seq, hash, at, kid });
}

export function anchorLine({ seq, hash, at, kid, signature }: Anchor): string {
  return `${JSON.stringify({ seq, hash, at, kid, signature })}\n`;
}

/** Reads the anchor of a line. `torn`: the line is incomplete, as after a kill. Undefined: it is no anchor. */
export function anchorOf(line: string): Anchor | 'torn' | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return line.startsWith('{') && !line.includes('}') ? 'torn' : undefined;
  }
  if (!isObject(value)) return undefined;
  const { seq, hash, at, kid, signature } = value;
  const isWhole = Number.isSafeInteger(seq) && [hash, at, kid, signature].every((member) => typeof member === 'string');
  return isWhole && Object.keys(value).length === 5 ? (value as unknown as Anchor) : undefined;
}

/** A loss of entries that an operator accepted. The log itself records it. */
export interface AcceptedLoss {
  /** The newest anchor at that time. The log did not contain it. */
  readonly anchoredSeq: number;
  readonly anchoredHash: string;
  /** The newest remaining entry. 0 if none is known. */
  readonly keptSeq: number;
}

export function lossOf(entry: Readonly<Record<string, unknown>>): AcceptedLoss | undefined {
  const { event_type: type, payload } = entry;
  if (type !== 'AuditEntriesLost' || !isObject(payload)) return undefined;
  const { anchored_seq: anchoredSeq, anchored_hash: anchoredHash, kept_seq: keptSeq } = payload;
  const isWhole = typeof anchoredSeq === 'number' && typeof anchoredHash === 'string' && typeof keptSeq === 'number';
  return isWhole ? { anchoredSeq, anchoredHash, keptSeq } : undefined;
}

/**
 * Filters anchors (oldest first) to those that the log must contain. It leaves out anchors whose loss an operator
 * accepted. An accepted loss covers only what was anchored before it.
 */
export function requiredAnchors(anchors: readonly Anchor[], losses: readonly AcceptedLoss[]): readonly Anchor[] {
  const covered = losses.map(({ anchoredSeq, anchoredHash, keptSeq }) => ({
    keptSeq,
    until: anchors.findLastIndex(({ seq, hash }) => seq === anchoredSeq && hash === anchoredHash),
  }));
  return anchors.filter(({ seq }, index) => !covered.some(({ keptSeq, until }) => index <= until && seq > keptSeq));
}
