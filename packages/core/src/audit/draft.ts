import type { Lineage } from '../tenancy/lineage.ts';
import type { EntryDraft } from './entry.ts';

/** The lineage of what concerns no agent. */
export const noLineage: Lineage = {
  agent_id: '',
  depth: 0,
  org_id: null,
  parent_agent_id: null,
  root_agent_id: '',
  team_id: '',
};

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
