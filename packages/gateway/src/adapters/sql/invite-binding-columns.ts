/** The tenant that an invited account is bound to. Invites from before this version bind to none. */
export const inviteBindingColumns = `
  ALTER TABLE invites ADD COLUMN org_id TEXT;
  ALTER TABLE invites ADD COLUMN team_id TEXT;
`;
