/** Who made an invite, and whether as an owner. Both are unknown for invites from before this version. */
export const inviteMakerColumns = `
  ALTER TABLE invites ADD COLUMN made_by_kind TEXT;
  ALTER TABLE invites ADD COLUMN made_by_id TEXT;
  ALTER TABLE invites ADD COLUMN as_owner SMALLINT NOT NULL DEFAULT 0;
`;
