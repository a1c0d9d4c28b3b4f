import { rememberingTimestamp } from '../kernel/index.ts';
import type { Sha256 } from '../kernel/index.ts';
import type { Lineage, Actor, EntryDraft, SealedEntry } from './entry.ts';

/** The newest entry, which the next one links to. */
export interface ChainHead {
  readonly seq: number;
  readonly hash: string;
}

export const emptyChain: ChainHead = { seq: 0, hash: '0'.repeat(64) };

export type Seal = (draft: EntryDraft, head: ChainHead) => SealedEntry;

/**
 * Gives a draft its place after `head`. The text is canonical by RFC 8785. The members are written in sorted order, so
 * the decision path sorts nothing.
 */
export function sealer(sha256: Sha256): Seal {
  const timestamp = rememberingTimestamp();
  // All entries of an agent share its actor and lineage objects, so their text is made once.
  const actorText = remembering(writeActor);
  const lineageText = remembering<Lineage>(JSON.stringify);
  // Most decisions have the reason, rule and version of others.
  const sharedText = rememberingTexts();
  return (draft, head) => {
    const seq = head.seq + 1;
    const canonical =
      `{"actor":${actorText(draft.actor)},"at":"${timestamp(draft.at)}","decision":${sharedText(draft.decision)}` +
      `,"event_type":"${draft.eventType}","lineage":${lineageText(draft.lineage)},"op_id":${text(draft.opId)}` +
      `,"payload":${draft.payload},"policy_rule":${sharedText(draft.policyRule)}` +
      `,"policy_version":${sharedText(draft.policyVersion)},"prev_hash":"${head.hash}","reason":${sharedText(draft.reason)}` +
      `,"seq":${seq},"span_id":${text(draft.spanId)},"trace_id":${text(draft.traceId)}}`;
    return { seq, draft, hash: sha256(canonical), canonical };
  };
}

function writeActor({ id, kind, label }: Actor): string {
  return `{"id":${text(id)},"kind":"${kind}","label":${text(label)}}`;
}

function remembering<Value extends object>(write: (value: Value) => string): (value: Value) => string {
  const texts = new WeakMap<Value, string>();
  return (value) => {
    const known = texts.get(value);
    if (known !== undefined) return known;
    const written = write(value);
    texts.set(value, written);
    return written;
  };
}

/** How many texts are remembered, and how long they may be. */
const mostTexts = 1000;
const longestText = 500;

function rememberingTexts(): (value: string | null) => string {
  const texts = new Map<string, string>();
  return (value) => {
    if (value === null || value.length > longestText) return text(value);
    const known = texts.get(value);
    if (known !== undefined) return known;
    if (texts.size === mostTexts) texts.clear();
    const written = text(value);
    texts.set(value, written);
    return written;
  };
}

function text(value: string | null): string {
  return value === null ? 'null' : JSON.stringify(value.toWellFormed());
}
