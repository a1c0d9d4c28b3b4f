/**
 * The people whom providers of a single sign-on vouch for, and the tenants that they bind accounts to. Sessions from
 * before this version were opened by passwords.
 */
export const singleSignOnTables = `
  ALTER TABLE accounts ADD COLUMN org_id TEXT;
  ALTER TABLE accounts ADD COLUMN team_id TEXT;
  ALTER TABLE sessions ADD COLUMN via TEXT NOT NULL DEFAULT 'password';

  CREATE TABLE identities (
    id TEXT NOT NULL PRIMARY KEY,
    account_id TEXT NOT NULL,
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    linked_at BIGINT NOT NULL
  );
  CREATE INDEX identities_of_account ON identities (account_id);
`;
