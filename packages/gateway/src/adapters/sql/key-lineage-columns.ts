/** The origin of a key. It is unknown for keys from before this version. */
export const keyLineageColumns = `
  ALTER TABLE api_keys ADD COLUMN made_by_kind TEXT;
  ALTER TABLE api_keys ADD COLUMN made_by_id TEXT;
  ALTER TABLE api_keys ADD COLUMN rotated_from TEXT;
`;
