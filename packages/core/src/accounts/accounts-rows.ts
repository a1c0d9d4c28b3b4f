import { makerIn, roles } from '../access/index.ts';
import type { Table } from '../journal/index.ts';
import { aFlag, aNumber, aText, oneOf, optional, tableOf, text } from '../journal/index.ts';
import type { OutboxEntry } from './account-store.ts';
import type { Account, Attempts, Identity, Invite, QueuedLetter, RefreshToken, SentToken, Session } from './account.ts';
import { sentPurposes, signIns } from './account.ts';

export const accountsTable: Table<Account, 'id'> = tableOf('accounts', 'id', {
  id: aText,
  email: aText,
  emailKey: aText,
  name: aText,
  role: oneOf(roles),
  status: oneOf(['active', 'disabled']),
  passwordHash: aText,
  createdAt: aNumber,
  lastLoginAt: optional(aNumber),
  orgId: optional(aText),
  teamId: optional(aText),
});

export const identitiesTable: Table<Identity, 'id'> = tableOf('identities', 'id', {
  id: aText,
  accountId: aText,
  issuer: aText,
  subject: aText,
  linkedAt: aNumber,
});

export const sessionsTable: Table<Session, 'id'> = tableOf('sessions', 'id', {
  id: aText,
  accountId: aText,
  rememberMe: aFlag,
  createdAt: aNumber,
  lastUsedAt: aNumber,
  expiresAt: aNumber,
  endedAt: optional(aNumber),
  address: aText,
  userAgent: aText,
  via: oneOf(signIns),
});

export const refreshTokensTable: Table<RefreshToken, 'hash'> = tableOf('refresh_tokens', 'hash', {
  hash: aText,
  sessionId: aText,
  usedAt: optional(aNumber),
});

const invitesWithoutMaker: Table<Omit<Invite, 'madeBy'>, 'id'> = tableOf('invites', 'id', {
  id: aText,
  email: aText,
  emailKey: aText,
  role: oneOf(roles),
  invitedBy: aText,
  createdAt: aNumber,
  expiresAt: aNumber,
  asOwner: aFlag,
  orgId: optional(aText),
  teamId: optional(aText),
});

export const invitesTable: Table<Invite, 'id'> = {
  ...invitesWithoutMaker,
  columns: {
    ...invitesWithoutMaker.columns,
    made_by_kind: text(({ madeBy }) => madeBy?.kind ?? null),
    made_by_id: text(({ madeBy }) => madeBy?.id ?? null),
  },
  itemOf: (row) => ({ ...invitesWithoutMaker.itemOf(row), madeBy: makerIn(row) }),
};

export const sentTokensTable: Table<SentToken, 'hash'> = tableOf('sent_tokens', 'hash', {
  hash: aText,
  purpose: oneOf(sentPurposes),
  subjectId: aText,
  expiresAt: aNumber,
});

export const attemptsTable: Table<Attempts, 'email_hash'> = tableOf('attempts', 'email_hash', {
  emailHash: aText,
  count: aNumber,
  lockedUntil: optional(aNumber),
  updatedAt: aNumber,
});

export const lettersTable: Table<QueuedLetter, 'id'> = tableOf('letters', 'id', {
  id: aText,
  kind: oneOf(['invite', 'reset']),
  subjectId: aText,
  createdAt: aNumber,
  dueAt: aNumber,
  failures: aNumber,
});

/** The only accounts table that a commit of the log touches. The account store owns the others. */
export const outboxTable: Table<OutboxEntry, 'id'> = tableOf('owed_entries', 'id', {
  id: aText,
  at: aNumber,
  draft: aText,
});
