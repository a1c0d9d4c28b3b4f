/** The stored controls. `record` holds the whole; the other columns are for lookups. */
export const controlTables = `
  ALTER TABLE agents ADD COLUMN controlled SMALLINT NOT NULL DEFAULT 0;

  CREATE TABLE control_receipts (
    id TEXT PRIMARY KEY,
    bulk_id TEXT,
    org_id TEXT NOT NULL,
    team_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    sequence BIGINT NOT NULL,
    op_id TEXT NOT NULL,
    requested_at BIGINT NOT NULL,
    status TEXT NOT NULL,
    is_open SMALLINT NOT NULL,
    record TEXT NOT NULL
  );
  CREATE UNIQUE INDEX control_receipts_by_sequence ON control_receipts (org_id, team_id, agent_id, sequence);
  CREATE INDEX control_receipts_by_bulk ON control_receipts (bulk_id, id, status) WHERE bulk_id IS NOT NULL;
  CREATE INDEX control_receipts_open ON control_receipts (id) WHERE is_open = 1;
  CREATE INDEX control_receipts_by_age ON control_receipts (requested_at) WHERE is_open = 0;

  CREATE TABLE control_bulks (
    id TEXT PRIMARY KEY,
    requested_at BIGINT NOT NULL,
    is_remembered SMALLINT NOT NULL,
    record TEXT NOT NULL
  );
  CREATE INDEX control_bulks_by_age ON control_bulks (requested_at);

  CREATE TABLE control_sequences (
    org_id TEXT NOT NULL,
    team_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    sequence BIGINT NOT NULL,
    PRIMARY KEY (org_id, team_id, agent_id)
  );
`;
