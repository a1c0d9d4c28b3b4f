import { canonicalJson } from '@reeve/contract/audit';
import type { StoredEntry } from '@reeve/core';
import { ReadEntry } from '@reeve/core';

/** Entries whose block was changed on the disk. */
export class DamagedEntries extends Error {
  /** How much memory it takes, about. */
  readonly bytes = 1024;

  constructor(firstSeq: number, lastSeq: number, options?: ErrorOptions) {
    super(`the block of entries ${firstSeq} to ${lastSeq} is damaged on the disk`, options);
  }
}

/**
 * What stands where an entry cannot be read, for whoever reads all entries. It has the form of one, so that reading goes
 * on, and no hash, so that nobody takes it for one: a verification names it.
 */
export function unreadableEntry(seq: number, at: number, why: DamagedEntries): StoredEntry {
  const canonical = canonicalJson({
    actor: { id: '', kind: 'system', label: '' },
    at: new Date(at).toISOString(),
    decision: null,
    event_type: 'Unreadable',
    lineage: { agent_id: '', depth: 0, org_id: null, parent_agent_id: null, root_agent_id: '', team_id: '' },
    op_id: null,
    payload: {},
    policy_rule: null,
    policy_version: null,
    prev_hash: '',
    reason: why.message,
    seq,
    span_id: null,
    trace_id: null,
  });
  return new ReadEntry(seq, '', canonical);
}
