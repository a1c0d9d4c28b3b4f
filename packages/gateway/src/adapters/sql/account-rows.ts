import type {
  Account,
  Attempts,
  Identity,
  Invite,
  OwedEntry,
  QueuedLetter,
  RefreshToken,
  SentToken,
  Session,
  Row,
} from '@reeve/core';
import { roles, makerIn, numberIn, optionalNumberIn, optionalTextIn, sentPurposes, signIns, textIn } from '@reeve/core';
import type { SqlValue } from './sql-database.ts';

/** How one kind of record is stored in its table. */
export interface RowShape<Record> {
  readonly table: string;
  /** The key comes first. */
  readonly columns: readonly string[];
  /** In the order of the columns. */
  readonly values: (record: Record) => SqlValue[];
  /** `at` is a prefix of column names, for rows that come from more than one table. */
  readonly record: (row: Row, at?: string) => Record;
}

export const accountRow: RowShape<Account> = {
  table: 'accounts',
  columns: [
    'id',
    'email',
    'email_key',
    'name',
    'role',
    'status',
    'password_hash',
    'created_at',
    'last_login_at',
    'org_id',
    'team_id',
  ],
  values: (account) => [
    account.id,
    account.email,
    account.emailKey,
    account.name,
    account.role,
    account.status,
    account.passwordHash,
    account.createdAt,
    account.lastLoginAt,
    account.orgId,
    account.teamId,
  ],
  record: (row, at = '') => ({
    id: textIn(row, `${at}id`),
    email: textIn(row, `${at}email`),
    emailKey: textIn(row, `${at}email_key`),
    name: textIn(row, `${at}name`),
    role: oneOf(roles, row, `${at}role`),
    status: oneOf(['active', 'disabled'], row, `${at}status`),
    passwordHash: textIn(row, `${at}password_hash`),
    createdAt: numberIn(row, `${at}created_at`),
    lastLoginAt: optionalNumberIn(row, `${at}last_login_at`),
    orgId: optionalTextIn(row, `${at}org_id`),
    teamId: optionalTextIn(row, `${at}team_id`),
  }),
};

export const identityRow: RowShape<Identity> = {
  table: 'identities',
  columns: ['id', 'account_id', 'issuer', 'subject', 'linked_at'],
  values: ({ id, accountId, issuer, subject, linkedAt }) => [id, accountId, issuer, subject, linkedAt],
  record: (row) => ({
    id: textIn(row, 'id'),
    accountId: textIn(row, 'account_id'),
    issuer: textIn(row, 'issuer'),
    subject: textIn(row, 'subject'),
    linkedAt: numberIn(row, 'linked_at'),
  }),
};

export const sessionRow: RowShape<Session> = {
  table: 'sessions',
  columns: [
    'id',
    'account_id',
    'remember_me',
    'created_at',
    'last_used_at',
    'expires_at',
    'ended_at',
    'address',
    'user_agent',
    'via',
  ],
  values: (session) => [
    session.id,
    session.accountId,
    session.rememberMe ? 1 : 0,
    session.createdAt,
    session.lastUsedAt,
    session.expiresAt,
    session.endedAt,
    session.address,
    session.userAgent,
    session.via,
  ],
  record: (row, at = '') => ({
    id: textIn(row, `${at}id`),
    accountId: textIn(row, `${at}account_id`),
    rememberMe: numberIn(row, `${at}remember_me`) === 1,
    createdAt: numberIn(row, `${at}created_at`),
    lastUsedAt: numberIn(row, `${at}last_used_at`),
    expiresAt: numberIn(row, `${at}expires_at`),
    endedAt: optionalNumberIn(row, `${at}ended_at`),
    address: textIn(row, `${at}address`),
    userAgent: textIn(row, `${at}user_agent`),
    via: oneOf(signIns, row, `${at}via`),
  }),
};

export const refreshTokenRow: RowShape<RefreshToken> = {
  table: 'refresh_tokens',
  columns: ['hash', 'session_id', 'used_at'],
  values: (token) => [token.hash, token.sessionId, token.usedAt],
  record: (row) => ({
    hash: textIn(row, 'hash'),
    sessionId: textIn(row, 'session_id'),
    usedAt: optionalNumberIn(row, 'used_at'),
  }),
};

export const inviteRow: RowShape<Invite> = {
  table: 'invites',
  columns: [
    'id',
    'email',
    'email_key',
    'role',
    'invited_by',
    'created_at',
    'expires_at',
    'made_by_kind',
    'made_by_id',
    'as_owner',
    'org_id',
    'team_id',
  ],
  values: (invite) => [
    invite.id,
    invite.email,
    invite.emailKey,
    invite.role,
    invite.invitedBy,
    invite.createdAt,
    invite.expiresAt,
    invite.madeBy?.kind ?? null,
    invite.madeBy?.id ?? null,
    invite.asOwner ? 1 : 0,
    invite.orgId,
    invite.teamId,
  ],
  record: (row) => ({
    id: textIn(row, 'id'),
    email: textIn(row, 'email'),
    emailKey: textIn(row, 'email_key'),
    role: oneOf(roles, row, 'role'),
    invitedBy: textIn(row, 'invited_by'),
    createdAt: numberIn(row, 'created_at'),
    expiresAt: numberIn(row, 'expires_at'),
    madeBy: makerIn(row),
    asOwner: numberIn(row, 'as_owner') === 1,
    orgId: optionalTextIn(row, 'org_id'),
    teamId: optionalTextIn(row, 'team_id'),
  }),
};

export const sentTokenRow: RowShape<SentToken> = {
  table: 'sent_tokens',
  columns: ['hash', 'purpose', 'subject_id', 'expires_at'],
  values: (token) => [token.hash, token.purpose, token.subjectId, token.expiresAt],
  record: (row) => ({
    hash: textIn(row, 'hash'),
    purpose: oneOf(sentPurposes, row, 'purpose'),
    subjectId: textIn(row, 'subject_id'),
    expiresAt: numberIn(row, 'expires_at'),
  }),
};

export const attemptsRow: RowShape<Attempts> = {
  table: 'attempts',
  columns: ['email_hash', 'count', 'locked_until', 'updated_at'],
  values: (attempts) => [attempts.emailHash, attempts.count, attempts.lockedUntil, attempts.updatedAt],
  record: (row) => ({
    emailHash: textIn(row, 'email_hash'),
    count: numberIn(row, 'count'),
    lockedUntil: optionalNumberIn(row, 'locked_until'),
    updatedAt: numberIn(row, 'updated_at'),
  }),
};

export const letterRow: RowShape<QueuedLetter> = {
  table: 'letters',
  columns: ['id', 'kind', 'subject_id', 'created_at', 'due_at', 'failures'],
  values: (letter) => [letter.id, letter.kind, letter.subjectId, letter.createdAt, letter.dueAt, letter.failures],
  record: (row) => ({
    id: textIn(row, 'id'),
    kind: oneOf(['invite', 'reset'], row, 'kind'),
    subjectId: textIn(row, 'subject_id'),
    createdAt: numberIn(row, 'created_at'),
    dueAt: numberIn(row, 'due_at'),
    failures: numberIn(row, 'failures'),
  }),
};

export const owedRow: RowShape<OwedEntry> = {
  table: 'owed_entries',
  columns: ['id', 'at', 'draft'],
  values: (entry) => [entry.id, entry.at, entry.draft],
  record: (row) => ({ id: textIn(row, 'id'), at: numberIn(row, 'at'), draft: textIn(row, 'draft') }),
};

function oneOf<Value extends string>(values: readonly Value[], row: Row, column: string): Value {
  const found = values.find((value) => value === row[column]);
  if (found === undefined) throw new TypeError(`the column ${column} holds none of ${values.join(', ')}`);
  return found;
}
