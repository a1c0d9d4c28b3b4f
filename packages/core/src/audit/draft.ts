import { noLineage } from './lineage.ts';
import type { EntryDraft } from './entry.ts';

type Required = 'at' | 'eventType' | 'actor' | 'payload';

/** An entry that is not about a decision: what is not given is null. */
export function draftOf(members: Pick<EntryDraft, Required> & Partial<EntryDraft>): EntryDraft {
  return {
    lineage: noLineage,
    opId: null,
    traceId: null,
    spanId: null,
    decision: null,
    reason: null,
    policyRule: null,
    policyVersion: null,
    ...members,
  };
}
