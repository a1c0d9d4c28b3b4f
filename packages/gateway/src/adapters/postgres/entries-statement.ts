import type { ChainHead, SealedEntry } from '@reeve/core';
import { blockBits } from './postgres-schema.ts';
import type { Statement } from './statement.ts';
import { arrayOf, arrayOfJson } from './statement.ts';

/** The writer: its slot, and the proof that this gateway still holds it. */
export interface SlotHolder {
  readonly number: number;
  readonly holder: string;
}

/**
 * One statement, hence one round trip and one transaction. It moves the head of the chain from the entry before these
 * to the last of them, and then writes them. It does nothing if another gateway has moved the head or taken the slot.
 */
const text = `
  WITH moved AS (
    UPDATE chain SET seq = $3, hash = $4
    WHERE seq = $1 AND hash = $2 AND EXISTS (SELECT 1 FROM seats WHERE seat = $5 AND holder = $6)
    RETURNING 1
  ), timed AS (
    INSERT INTO audit_times AS t
    SELECT e.seq >> ${blockBits}, min(e.at), max(e.at) FROM moved, unnest($7::bigint[], $8::bigint[]) AS e (seq, at)
    GROUP BY 1
    ON CONFLICT (block) DO UPDATE
      SET min_at = LEAST(t.min_at, excluded.min_at), max_at = GREATEST(t.max_at, excluded.max_at)
  )
  INSERT INTO audit
    (seq, at, event_type, org_id, team_id, agent_id, op_id, decision, claimed_org_id, hash, canonical, seat)
  SELECT e.*, $5
  FROM moved, unnest(
    $7::bigint[], $8::bigint[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[],
    $15::text[], $16::text[], $17::text[]) AS e`;

export function entriesStatement(entries: readonly SealedEntry[], { number, holder }: SlotHolder): Statement {
  const before = headBefore(entries);
  const last = entries.at(-1);
  if (last === undefined || last.seq !== before.seq + entries.length) {
    throw new Error(`the entries after ${before.seq} do not follow one another`);
  }
  const drafts = entries.map((entry) => entry.draft);
  return {
    name: 'entries',
    text,
    values: [
      before.seq,
      before.hash,
      last.seq,
      last.hash,
      number,
      holder,
      arrayOf(entries.map((entry) => entry.seq)),
      arrayOf(drafts.map((draft) => draft.at)),
      arrayOf(drafts.map((draft) => draft.eventType)),
      arrayOf(drafts.map((draft) => draft.lineage.org_id)),
      arrayOf(drafts.map((draft) => draft.lineage.team_id)),
      arrayOf(drafts.map((draft) => draft.lineage.agent_id)),
      arrayOf(drafts.map((draft) => draft.opId)),
      arrayOf(drafts.map((draft) => draft.decision)),
      arrayOf(drafts.map((draft) => draft.claimedOrgId ?? null)),
      arrayOf(entries.map((entry) => entry.hash)),
      arrayOfJson(entries.map((entry) => entry.canonical)),
    ],
  };
}

/** The head that the first entry was sealed onto, read from its text. */
export function headBefore([first]: readonly SealedEntry[]): ChainHead {
  if (first === undefined) throw new Error('there are no entries');
  // Take the last such member: in sorted order only texts follow it, and a quote within a text is escaped.
  const at = first.canonical.lastIndexOf(member) + member.length;
  return { seq: first.seq - 1, hash: first.canonical.slice(at, at + 64) };
}

const member = '"prev_hash":"';
