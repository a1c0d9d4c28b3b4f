import { setImmediate } from 'node:timers/promises';
import type { StoredEntry } from '@reeve/core';

/** The members of an entry that other formats have a place for. */
export interface EntryFacts {
  readonly seq: number;
  readonly at: string;
  readonly event_type: string;
  readonly actor: { readonly id: string; readonly kind: string };
  readonly lineage: { readonly org_id: string | null; readonly team_id: string; readonly agent_id: string };
  readonly decision: string | null;
  readonly policy_rule: string | null;
  readonly op_id: string | null;
  readonly trace_id: string | null;
  readonly span_id: string | null;
}

const nothing: Omit<EntryFacts, 'seq'> = {
  at: new Date(0).toISOString(),
  event_type: '',
  actor: { id: '', kind: '' },
  lineage: { org_id: null, team_id: '', agent_id: '' },
  decision: null,
  policy_rule: null,
  op_id: null,
  trace_id: null,
  span_id: null,
};

/** An entry that was damaged in the store has no facts, but is forwarded: its receiver must see the damage. */
export function factsOf({ seq, canonical }: StoredEntry): EntryFacts {
  try {
    return { ...nothing, ...(JSON.parse(canonical) as Partial<EntryFacts>), seq };
  } catch {
    return { ...nothing, seq };
  }
}

const entriesPerTurn = 25;

/** Encodes entries in short stretches, so that decisions run in between. */
export async function encodeAll<Encoded>(
  entries: readonly StoredEntry[],
  encode: (entry: StoredEntry) => Encoded,
): Promise<Encoded[]> {
  const encoded: Encoded[] = [];
  for (const entry of entries) {
    if (encoded.length > 0 && encoded.length % entriesPerTurn === 0) await setImmediate();
    encoded.push(encode(entry));
  }
  return encoded;
}
