import { rememberingRecent, rememberingTimestamp } from '../kernel/index.ts';
import type { Sha256 } from '../kernel/index.ts';
import { canonicalJson, canonicalText } from './canonical-json.ts';
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
  // The entries of an agent share its actor and lineage objects, so their text is made once while it acts.
  const actorText = rememberingRecent(writeActor);
  const lineageText = rememberingRecent((lineage: Lineage) => JSON.stringify(lineage));
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

function text(value: string | null): string {
  return value === null ? 'null' : canonicalJson(value);
}

/** Most decisions have the reason, rule and version of others. */
function sharedText(value: string | null): string {
  return value === null ? 'null' : canonicalText(value);
}
