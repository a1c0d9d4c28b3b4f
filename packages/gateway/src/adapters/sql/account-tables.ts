/**
 * The tables of accounts, in SQL that SQLite and PostgreSQL both understand. Times are milliseconds since the epoch,
 * and booleans are 0 or 1. There are no foreign keys: code removes related rows together, and an audit outbox or a
 * letter may outlive its subject.
 */
export const accountTables = `
  CREATE TABLE accounts (
    id TEXT NOT NULL PRIMARY KEY,
    email TEXT NOT NULL,
    email_key TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    status TEXT NOT NULL,
    password_hash TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    last_login_at BIGINT
  );
  CREATE INDEX accounts_in_order ON accounts (created_at, id);

  CREATE TABLE sessions (
    id TEXT NOT NULL PRIMARY KEY,
    account_id TEXT NOT NULL,
    remember_me INTEGER NOT NULL,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    ended_at BIGINT,
    address TEXT NOT NULL,
    user_agent TEXT NOT NULL
  );
  CREATE INDEX sessions_of_account ON sessions (account_id);
  CREATE INDEX sessions_by_expiry ON sessions (expires_at);
  CREATE INDEX sessions_by_end ON sessions (ended_at);

  CREATE TABLE refresh_tokens (
    hash TEXT NOT NULL PRIMARY KEY,
    session_id TEXT NOT NULL,
    used_at BIGINT
  );
  CREATE INDEX refresh_tokens_of_session ON refresh_tokens (session_id);

  CREATE TABLE invites (
    id TEXT NOT NULL PRIMARY KEY,
    email TEXT NOT NULL,
    email_key TEXT NOT NULL,
    role TEXT NOT NULL,
    invited_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
  );
  CREATE INDEX invites_by_email ON invites (email_key);
  CREATE INDEX invites_by_expiry ON invites (expires_at);

  CREATE TABLE sent_tokens (
    hash TEXT NOT NULL PRIMARY KEY,
    purpose TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    expires_at BIGINT NOT NULL
  );
  CREATE INDEX sent_tokens_of_subject ON sent_tokens (subject_id, purpose);
  CREATE INDEX sent_tokens_by_expiry ON sent_tokens (expires_at);

  CREATE TABLE attempts (
    email_hash TEXT NOT NULL PRIMARY KEY,
    count INTEGER NOT NULL,
    locked_until BIGINT,
    updated_at BIGINT NOT NULL
  );
  CREATE INDEX attempts_by_update ON attempts (updated_at);

  CREATE TABLE letters (
    id TEXT NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    failures INTEGER NOT NULL
  );
  CREATE INDEX letters_by_due_time ON letters (due_at, id);

  CREATE TABLE owed_entries (
    id TEXT NOT NULL PRIMARY KEY,
    at BIGINT NOT NULL,
    draft TEXT NOT NULL
  );
  CREATE INDEX owed_entries_in_order ON owed_entries (at, id);
`;

/** Who made an invite, and whether as an owner. Both are unknown for invites from before this version. */
export const inviteMakerColumns = `
  ALTER TABLE invites ADD COLUMN made_by_kind TEXT;
  ALTER TABLE invites ADD COLUMN made_by_id TEXT;
  ALTER TABLE invites ADD COLUMN as_owner SMALLINT NOT NULL DEFAULT 0;
`;

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

/** The tenant that an invited account is bound to. Invites from before this version bind to none. */
export const inviteBindingColumns = `
  ALTER TABLE invites ADD COLUMN org_id TEXT;
  ALTER TABLE invites ADD COLUMN team_id TEXT;
`;
