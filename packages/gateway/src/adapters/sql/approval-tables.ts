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

/** Who gave verdicts, for the filter by author: see `decidersOf` in the core. */
const decidersColumn = `
  ALTER TABLE approvals ADD COLUMN deciders TEXT NOT NULL DEFAULT '';
  CREATE INDEX approvals_by_decision ON approvals (decided_at, id);
`;

/** Approvals that are stored already get the column out of their records. */
export const approvalDeciders = `${decidersColumn}
  UPDATE approvals SET deciders = coalesce((
    SELECT char(10) || group_concat(
        lower(json_extract(given.value, '$.actor.id')) || char(10) || lower(json_extract(given.value, '$.actor.label')),
        char(10)) || char(10)
      FROM json_each(approvals.record, '$.verdicts') AS given), '');
`;

/** The type `json` is only parsed: `jsonb` refuses some characters that an agent may have sent. */
export const approvalDecidersInPostgres = `${decidersColumn}
  UPDATE approvals SET deciders = coalesce((
    SELECT chr(10) || string_agg(
        lower(given->'actor'->>'id') || chr(10) || lower(given->'actor'->>'label'), chr(10)) || chr(10)
      FROM json_array_elements(record::json->'verdicts') AS given), '');
`;
