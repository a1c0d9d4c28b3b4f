import type { ChainHead, SealedEntry } from '@reeve/core';
import { emailKey } from '@reeve/core';
import { blockBits } from './postgres-schema.ts';
import type { Standing } from './standing.ts';
import type { Statement } from './statement.ts';
import { arrayOf, arrayOfSome } from './statement.ts';

/** What a commit says of itself: its number, who made it, and what others must follow. */
export interface CommitNote {
  /** The commit before it: that very one, and not another one of its number. */
  readonly after: Standing;
  readonly gateway: string;
  readonly events: number;
  readonly facts: string;
}

/** Moves the head of the chain, if nobody else has made a commit since. */
const moved = `
  moved AS (
    UPDATE chain
    SET version = $1::bigint + 1, seq = COALESCE($2::bigint, seq), hash = COALESCE($3::text, hash),
      events = events + $5::bigint
    WHERE version = $1::bigint AND hash = $7::text
      AND ($8::text IS NULL OR EXISTS (SELECT 1 FROM commits WHERE version = $1::bigint AND gateway = $8::text))
    RETURNING version, seq, hash, events
  ), noted AS (
    INSERT INTO commits (version, gateway, seq, hash, events, told)
    SELECT version, $4::text, seq, hash, events - $5::bigint, $6::text FROM moved
  )`;

/** Canonical JSON holds no control character, so nothing in it needs an escape. */
const betweenEntries = '\n';

/**
 * One statement, hence one round trip and one transaction. It does nothing if another gateway has moved the head.
 * Entries follow one another, so their place says their number.
 */
const entriesText = `
  WITH ${moved}, timed AS (
    INSERT INTO audit_times AS t
    SELECT ($9::bigint + e.nth) >> ${blockBits}, min(e.at), max(e.at)
    FROM moved, unnest($10::bigint[]) WITH ORDINALITY AS e (at, nth)
    GROUP BY 1
    ON CONFLICT (block) DO UPDATE
      SET min_at = LEAST(t.min_at, excluded.min_at), max_at = GREATEST(t.max_at, excluded.max_at)
  )
  INSERT INTO audit
    (seq, at, event_type, org_id, team_id, agent_id, op_id, decision, claimed_org_id, user_issuer, user_sub, user_email,
     run, hash, canonical)
  SELECT $9::bigint + e.nth, e.at, e.event_type, e.org_id, e.team_id, e.agent_id, e.op_id, e.decision,
    e.claimed_org_id, e.user_issuer, e.user_sub, e.user_email, e.run, e.hash, e.canonical
  FROM moved, unnest(
    $10::bigint[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[],
    $17::text[], $18::text[], $19::text[], $20::text[], $21::text[], $22::text[],
    string_to_array($23::text COLLATE "C", E'\\n')) WITH ORDINALITY AS e (
      at, event_type, org_id, team_id, agent_id, op_id, decision, claimed_org_id, user_issuer, user_sub, user_email,
      run, hash, canonical, nth)`;

const rowsText = `WITH ${moved} SELECT 1 FROM moved`;

/** Writes the entries of a commit and its note. */
export function entriesStatement(entries: readonly SealedEntry[], note: CommitNote): Statement {
  const last = entries.at(-1);
  if (last === undefined) return { name: 'commit_rows', text: rowsText, values: noteValues(note, undefined) };
  if (last.seq !== (entries[0]?.seq ?? 0) + entries.length - 1) {
    throw new Error(`the entries up to ${last.seq} do not follow one another`);
  }
  const drafts = entries.map((entry) => entry.draft);
  return {
    name: 'entries',
    text: entriesText,
    values: [
      ...noteValues(note, last),
      last.seq - entries.length,
      arrayOf(drafts.map((draft) => draft.at)),
      arrayOf(drafts.map((draft) => draft.eventType)),
      arrayOf(drafts.map((draft) => draft.lineage.org_id)),
      arrayOf(drafts.map((draft) => draft.lineage.team_id)),
      arrayOf(drafts.map((draft) => draft.lineage.agent_id)),
      arrayOf(drafts.map((draft) => draft.opId)),
      arrayOfSome(drafts.map((draft) => draft.decision)),
      arrayOfSome(drafts.map((draft) => draft.claimedOrgId ?? null)),
      arrayOfSome(drafts.map((draft) => draft.user?.issuer ?? null)),
      arrayOfSome(drafts.map((draft) => draft.user?.sub ?? null)),
      arrayOfSome(drafts.map((draft) => emailKey(draft.user?.email))),
      arrayOfSome(drafts.map((draft) => draft.run ?? null)),
      arrayOf(entries.map((entry) => entry.hash)),
      entries.map((entry) => entry.canonical).join(betweenEntries),
    ],
  };
}

function noteValues({ after, gateway, events, facts }: CommitNote, last: ChainHead | undefined): Statement['values'] {
  const { version, hash, name } = after;
  return [version, last?.seq ?? null, last?.hash ?? null, gateway, events, facts, hash, name];
}

/** Fails, and the transaction with it, unless the commit of this number has this name. Nothing of a batch is written without it. */
export function requireMoved(version: number, name: string): Statement {
  const text = 'SELECT 1 / count(*) FROM commits WHERE version = $1 AND gateway = $2';
  return { name: 'require_made', text, values: [version, name] };
}
