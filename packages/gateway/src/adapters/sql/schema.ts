import { accountTables, inviteBindingColumns, inviteMakerColumns, singleSignOnTables } from './account-tables.ts';
import { approvalDeciders, approvalTables } from './approval-tables.ts';
import { balanceTables, closedPeriodTables } from './balance-tables.ts';
import { controlTables } from './control-tables.ts';
import { policyTables } from './policy-tables.ts';

/** The origin of a key. It is unknown for keys from before this version. */
const keyLineageColumns = `
  ALTER TABLE api_keys ADD COLUMN made_by_kind TEXT;
  ALTER TABLE api_keys ADD COLUMN made_by_id TEXT;
  ALTER TABLE api_keys ADD COLUMN rotated_from TEXT;
`;

/** Several gateways work on the same rows. Only PostgreSQL has something to do: see postgres/several-gateways.ts. */
export const severalGateways = `SELECT 1;`;

/** Facts have a compact form. Only PostgreSQL has to note which gateways read it: see postgres/several-gateways.ts. */
export const compactReaders = `SELECT 2;`;

/** What a start applies again, one row for a commit. Whatever happened before is in the audit log alone. */
export const factsTable = `
  CREATE TABLE facts (
    position INTEGER PRIMARY KEY,
    before INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    told TEXT NOT NULL
  );
  INSERT INTO meta (name, value) SELECT 'facts_from', COALESCE(max(seq), 0) FROM audit;
`;

/** For whom an entry is. */
export const auditUserColumns = `
  ALTER TABLE audit ADD COLUMN user_sub TEXT;
  ALTER TABLE audit ADD COLUMN user_email TEXT;
`;

/** Who vouches for the user of an entry. Older entries do not say so in a column. */
const auditUserIssuer = `ALTER TABLE audit ADD COLUMN user_issuer TEXT;`;

/** The run of a decision, which `GET /api/v1/runs/{run_id}` lists. Entries of earlier releases do not say so in a column. */
export const auditRunColumn = `ALTER TABLE audit ADD COLUMN run TEXT;`;

/** Older entries, many in a row, compressed: see stored-log.ts. PostgreSQL compresses by itself, and has nothing to do. */
export const auditBlocks = `
  CREATE TABLE audit_blocks (
    first_seq INTEGER PRIMARY KEY,
    last_seq INTEGER NOT NULL,
    min_at INTEGER NOT NULL,
    max_at INTEGER NOT NULL,
    entries BLOB NOT NULL
  );
`;

/** One row for each target that was ever configured. The key gives no credentials away. */
const forwardTables = `
  CREATE TABLE forward_positions (
    target TEXT PRIMARY KEY,
    seq INTEGER NOT NULL,
    hash TEXT NOT NULL
  ) WITHOUT ROWID;
`;

/**
 * The tables of the embedded store, one statement list per version. The audit table has no index but its sequence,
 * because a second index would double the cost of a decision; see audit-index.ts for the others. A released version is
 * never edited: a change is a new entry at the end, which runs when an older database is opened.
 */
export const migrations: readonly string[] = [
  `
  CREATE TABLE audit (
    seq INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    event_type TEXT NOT NULL,
    org_id TEXT,
    team_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    op_id TEXT,
    decision TEXT,
    claimed_org_id TEXT,
    hash TEXT NOT NULL,
    canonical TEXT NOT NULL
  );

  CREATE TABLE agents (
    org_id TEXT NOT NULL,
    team_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    token_hash TEXT UNIQUE,
    name TEXT NOT NULL,
    framework TEXT NOT NULL,
    version TEXT NOT NULL,
    parent TEXT,
    metadata TEXT NOT NULL,
    tool_names TEXT NOT NULL,
    registered_at INTEGER NOT NULL,
    suspended_at INTEGER,
    suspension_reason TEXT,
    PRIMARY KEY (org_id, team_id, agent_id)
  ) WITHOUT ROWID;

  CREATE TABLE api_keys (
    id TEXT PRIMARY KEY,
    hash TEXT NOT NULL,
    label TEXT NOT NULL,
    scopes TEXT NOT NULL,
    org_id TEXT,
    team_id TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    last_used_at INTEGER,
    revoked_at INTEGER
  ) WITHOUT ROWID;

  CREATE TABLE signing_keys (
    kid TEXT PRIMARY KEY,
    private_jwk TEXT NOT NULL,
    public_jwk TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) WITHOUT ROWID;

  CREATE TABLE ops (
    org_id TEXT NOT NULL,
    team_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    op_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (org_id, team_id, agent_id, op_id)
  ) WITHOUT ROWID;

  CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value TEXT
  ) WITHOUT ROWID;
  INSERT INTO meta (name, value) VALUES ('ops_replay_from', '0');
  `,
  controlTables,
  accountTables,
  balanceTables,
  closedPeriodTables,
  policyTables,
  approvalTables,
  keyLineageColumns,
  `ALTER TABLE agents ADD COLUMN suspension_width TEXT;`,
  inviteMakerColumns,
  severalGateways,
  `CREATE TABLE run_controls (
    place TEXT PRIMARY KEY,
    record TEXT NOT NULL
  ) WITHOUT ROWID;`,
  `CREATE TABLE agent_uses (
    org_id TEXT NOT NULL,
    team_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (org_id, team_id, agent_id)
  ) WITHOUT ROWID;`,
  forwardTables,
  singleSignOnTables,
  `CREATE TABLE scope_suspensions (
    id TEXT PRIMARY KEY,
    place TEXT NOT NULL,
    record TEXT NOT NULL
  ) WITHOUT ROWID;`,
  approvalDeciders,
  inviteBindingColumns,
  `CREATE TABLE departures (
    place TEXT PRIMARY KEY,
    record TEXT NOT NULL
  ) WITHOUT ROWID;`,
  `ALTER TABLE agents ADD COLUMN token_life TEXT;`,
  factsTable,
  auditUserColumns,
  `CREATE TABLE rates (
    name TEXT PRIMARY KEY,
    seq INTEGER NOT NULL,
    record TEXT NOT NULL
  ) WITHOUT ROWID;`,
  `CREATE TABLE delegations (
    org_id TEXT NOT NULL,
    team_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    checks INTEGER NOT NULL,
    settled_micros INTEGER NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (org_id, team_id, agent_id)
  ) WITHOUT ROWID;`,
  compactReaders,
  auditUserIssuer,
  `CREATE TABLE runs (
    place TEXT PRIMARY KEY,
    seq INTEGER NOT NULL,
    record TEXT NOT NULL
  ) WITHOUT ROWID;`,
  auditRunColumn,
  `CREATE TABLE run_labels (
    place TEXT NOT NULL,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (place, owner, name)
  ) WITHOUT ROWID;
  CREATE TABLE forgotten_runs (
    place TEXT PRIMARY KEY,
    at INTEGER NOT NULL
  ) WITHOUT ROWID;`,
  auditBlocks,
];
