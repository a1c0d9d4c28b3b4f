/** Where a key comes from. Of keys that were made before this, it is not known. */
export const keyLineageColumns = `
  ALTER TABLE api_keys ADD COLUMN made_by_kind TEXT;
  ALTER TABLE api_keys ADD COLUMN made_by_id TEXT;
  ALTER TABLE api_keys ADD COLUMN rotated_from TEXT;
`;
