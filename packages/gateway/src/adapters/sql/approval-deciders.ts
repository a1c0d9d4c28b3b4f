/** Who gave verdicts, for the filter by author: see `decidersOf` in the core. */
const column = `
  ALTER TABLE approvals ADD COLUMN deciders TEXT NOT NULL DEFAULT '';
  CREATE INDEX approvals_by_decision ON approvals (decided_at, id);
`;

/** Approvals that are stored already get the column out of their records. */
export const approvalDeciders = `${column}
  UPDATE approvals SET deciders = coalesce((
    SELECT char(10) || group_concat(
        lower(json_extract(given.value, '$.actor.id')) || char(10) || lower(json_extract(given.value, '$.actor.label')),
        char(10)) || char(10)
      FROM json_each(approvals.record, '$.verdicts') AS given), '');
`;

/** The type `json` is only parsed: `jsonb` refuses some characters that an agent may have sent. */
export const approvalDecidersInPostgres = `${column}
  UPDATE approvals SET deciders = coalesce((
    SELECT chr(10) || string_agg(
        lower(given->'actor'->>'id') || chr(10) || lower(given->'actor'->>'label'), chr(10)) || chr(10)
      FROM json_array_elements(record::json->'verdicts') AS given), '');
`;
