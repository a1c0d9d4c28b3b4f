import { approvalDeciders, approvalDecidersInPostgres } from '../sql/approval-tables.ts';
import { frequentEvents } from '../sql/log-segment.ts';
import {
  auditBlocks,
  auditRunColumn,
  auditUserColumns,
  compactReaders,
  factsTable,
  migrations,
} from '../sql/schema.ts';
import { severalGateways } from '../sql/schema.ts';
import { compactReaderColumn, rowsOfAll } from './several-gateways.ts';

/** Versions that PostgreSQL has in words of its own. */
const ownTexts: ReadonlyMap<string, string> = new Map([
  [severalGateways, rowsOfAll],
  [compactReaders, compactReaderColumn],
  [approvalDeciders, translate(approvalDecidersInPostgres)],
  // The commits hold them. Which ones are there, each start finds out.
  [factsTable, 'SELECT 1'],
  [auditBlocks, 'SELECT 1'],
  [
    auditUserColumns,
    `${translate(auditUserColumns)}
  CREATE INDEX audit_by_user_sub ON audit (user_sub, (-seq)) WHERE user_sub IS NOT NULL;
  CREATE INDEX audit_by_user_email ON audit (user_email, (-seq)) WHERE user_email IS NOT NULL;`,
  ],
  [
    auditRunColumn,
    `${translate(auditRunColumn)}
  CREATE INDEX audit_by_run ON audit (run, (-seq)) WHERE run IS NOT NULL;`,
  ],
]);

function forPostgres(sql: string): string {
  const own = ownTexts.get(sql);
  if (own !== undefined) return own;
  const extras = Object.entries(extrasByTable)
    .filter(([table]) => new RegExp(`\\bCREATE TABLE ${table}\\b`).test(sql))
    .map(([, extra]) => extra);
  return [translate(sql), ...extras].join('\n');
}

/** SQLite compares texts byte by byte; in PostgreSQL that is the collation "C". */
function translate(sql: string): string {
  return sql
    .replaceAll(/\bINTEGER\b/g, 'BIGINT')
    .replaceAll(/\bTEXT\b/g, 'TEXT COLLATE "C"')
    .replaceAll(/\bWITHOUT ROWID\b/g, '');
}

/** One row of `audit_times` covers this many entries, as a power of two. */
export const blockBits = 12;

/** The condition of an index over event types. Queries must repeat it, or the index is not used. */
export const isRareEvent = `event_type NOT IN (${frequentEvents.map((type) => `'${type}'`).join(', ')})`;

/**
 * By the table that they belong to, for the version that makes it.
 *
 * The indexes of the log are over `-seq`. No other index has that order, so the planner reads a page of one org, agent
 * or operation by its index, and never walks the whole log backwards, whatever it takes to be frequent.
 */
const extrasByTable: Readonly<Record<string, string>> = {
  audit: `
  ALTER TABLE audit ADD COLUMN seat BIGINT NOT NULL DEFAULT 1;
  CREATE INDEX audit_by_org ON audit (org_id, (-seq)) WHERE org_id IS NOT NULL;
  CREATE INDEX audit_by_agent ON audit (agent_id, (-seq)) WHERE agent_id <> '';
  CREATE INDEX audit_by_op ON audit (op_id, (-seq)) WHERE op_id IS NOT NULL;
  CREATE INDEX audit_by_event ON audit (event_type, (-seq)) WHERE ${isRareEvent};

  CREATE TABLE audit_times (
    block BIGINT PRIMARY KEY,
    min_at BIGINT NOT NULL,
    max_at BIGINT NOT NULL
  ) WITH (fillfactor = 50);

  CREATE TABLE chain (
    only_one BOOLEAN PRIMARY KEY DEFAULT true CHECK (only_one),
    seq BIGINT NOT NULL,
    hash TEXT COLLATE "C" NOT NULL
  ) WITH (fillfactor = 20);
  INSERT INTO chain (seq, hash) VALUES (0, repeat('0', 64));

  CREATE TABLE seats (
    seat BIGINT PRIMARY KEY,
    holder TEXT COLLATE "C" NOT NULL,
    seen_at TIMESTAMPTZ NOT NULL,
    ops_replay_from BIGINT,
    event_ids_reserved BIGINT NOT NULL DEFAULT 0
  );`,
  ops: `
  ALTER TABLE ops ADD COLUMN seat BIGINT NOT NULL DEFAULT 1;
  ALTER TABLE ops DROP CONSTRAINT ops_pkey;
  ALTER TABLE ops ADD PRIMARY KEY (seat, org_id, team_id, agent_id, op_id);`,
  books: `
  ALTER TABLE books ADD COLUMN seat BIGINT NOT NULL DEFAULT 1;
  ALTER TABLE books DROP CONSTRAINT books_pkey;
  ALTER TABLE books ADD PRIMARY KEY (seat, name);`,
  closed_books: `
  ALTER TABLE closed_books ADD COLUMN seat BIGINT NOT NULL DEFAULT 1;
  ALTER TABLE closed_books DROP CONSTRAINT closed_books_pkey;
  ALTER TABLE closed_books ADD PRIMARY KEY (seat, name, period, id);`,
  approvals: `
  ALTER TABLE approvals ADD COLUMN seat BIGINT NOT NULL DEFAULT 1;`,
  standing_grants: `
  ALTER TABLE standing_grants ADD COLUMN seat BIGINT NOT NULL DEFAULT 1;`,
  control_receipts: `
  ALTER TABLE control_receipts ADD COLUMN seat BIGINT NOT NULL DEFAULT 1;
  DROP INDEX control_receipts_by_sequence;
  CREATE UNIQUE INDEX control_receipts_by_sequence
    ON control_receipts (seat, org_id, team_id, agent_id, sequence);`,
  control_sequences: `
  ALTER TABLE control_sequences ADD COLUMN seat BIGINT NOT NULL DEFAULT 1;
  ALTER TABLE control_sequences DROP CONSTRAINT control_sequences_pkey;
  ALTER TABLE control_sequences ADD PRIMARY KEY (seat, org_id, team_id, agent_id);`,
};

/** The tables of the embedded store in PostgreSQL's SQL, with PostgreSQL's additions: one text per version. */
export const postgresMigrations: readonly string[] = migrations.map(forPostgres);
