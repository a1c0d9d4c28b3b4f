/** Approvals and standing grants. `record` holds the whole; the other columns are for lookups. */
export const approvalTables = `
  ALTER TABLE agents ADD COLUMN registered_with TEXT;

  CREATE TABLE approvals (
    id TEXT PRIMARY KEY,
    state TEXT NOT NULL,
    org_id TEXT NOT NULL,
    team_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    run_id TEXT NOT NULL,
    requested_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    decided_at BIGINT NOT NULL,
    is_live SMALLINT NOT NULL,
    record TEXT NOT NULL
  );
  CREATE INDEX approvals_live ON approvals (id) WHERE is_live = 1;
  CREATE INDEX approvals_by_state ON approvals (state, decided_at);

  CREATE TABLE standing_grants (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL,
    team_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    granted_at BIGINT NOT NULL,
    ends_at BIGINT NOT NULL,
    is_revoked SMALLINT NOT NULL,
    record TEXT NOT NULL
  );
  CREATE INDEX standing_grants_by_end ON standing_grants (ends_at);
`;
