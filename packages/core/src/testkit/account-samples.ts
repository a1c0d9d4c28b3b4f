import * as fc from 'fast-check';
import type { Account, Attempts, Identity, Invite, QueuedLetter, RefreshToken } from '../accounts/account.ts';
import type { SentToken, Session } from '../accounts/account.ts';
import { roles } from '../access/principal.ts';
import type { OutboxEntry } from '../accounts/account-store.ts';

/** A sample account, with the members that a test sets. */

export function sampleAccount(id: string, members: Partial<Account> = {}): Account {
  return {
    id,
    email: `${id}@Example.com`,
    emailKey: `${id}@example.com`,
    name: `Name of ${id}`,
    role: 'developer',
    status: 'active',
    passwordHash: '$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA',
    createdAt: 1_700_000_000_000,
    lastLoginAt: null,
    orgId: null,
    teamId: null,
    ...members,
  };
}

export function sampleIdentity(id: string, members: Partial<Identity> = {}): Identity {
  const known = { issuer: 'https://id.example.com', subject: `subject of ${id}` };
  return { id, accountId: 'ada', ...known, linkedAt: 1_700_000_000_000, ...members };
}

export function sampleSession(id: string, members: Partial<Session> = {}): Session {
  return {
    id,
    accountId: 'ada',
    via: 'password',
    rememberMe: false,
    createdAt: 1_700_000_000_000,
    lastUsedAt: 1_700_000_001_000,
    expiresAt: 1_700_043_200_000,
    endedAt: null,
    address: '192.0.2.7',
    userAgent: 'Browser/1.0',
    ...members,
  };
}

export function sampleRefreshToken(hash: string, members: Partial<RefreshToken> = {}): RefreshToken {
  return { hash, sessionId: 's1', usedAt: null, ...members };
}

export function sampleInvite(id: string, members: Partial<Invite> = {}): Invite {
  return {
    id,
    email: `${id}@Example.com`,
    emailKey: `${id}@example.com`,
    role: 'viewer',
    invitedBy: 'ada@example.com',
    madeBy: { kind: 'account', id: 'ada' },
    asOwner: false,
    orgId: null,
    teamId: null,
    createdAt: 1_700_000_000_000,
    expiresAt: 1_700_604_800_000,
    ...members,
  };
}

export function sampleSentToken(hash: string, members: Partial<SentToken> = {}): SentToken {
  return { hash, purpose: 'invite', subjectId: 'i1', expiresAt: 1_700_604_800_000, ...members };
}

export function sampleAttempts(emailHash: string, members: Partial<Attempts> = {}): Attempts {
  return { emailHash, count: 1, lockedUntil: null, updatedAt: 1_700_000_000_000, ...members };
}

export function sampleLetter(id: string, members: Partial<QueuedLetter> = {}): QueuedLetter {
  return {
    id,
    kind: 'invite',
    subjectId: 'i1',
    createdAt: 1_700_000_000_000,
    dueAt: 1_700_000_000_000,
    failures: 0,
    ...members,
  };
}

export function sampleOutboxEntry(id: string, members: Partial<OutboxEntry> = {}): OutboxEntry {
  return { id, at: 1_700_000_000_000, draft: `{"reason":"${id}"}`, ...members };
}

const epoch = fc.integer({ min: 0, max: 4_102_444_800_000 });
const orNull = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null });

/** Names as people may choose them. */
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.constantFrom(
    '',
    ' ',
    "O'Hara",
    '"quoted"',
    'a\nb\r\tc',
    '\\',
    '$1',
    '?',
    '%_',
    'NULL',
    "'; DROP TABLE accounts;--",
  ),
  fc.constantFrom(
    'Łukasz Ångström',
    '李小龍',
    'عائشة',
    '👩‍👩‍👧‍👦',
    'e\u0301',
    '\u{10ffff}',
    '\u0001',
    'a\0b',
    '\u2028',
    '\ufeff',
    'ﷺ',
  ),
);

export const someAccount: fc.Arbitrary<Account> = fc.record({
  id: fc.constantFrom('ada', 'bob'),
  email: text,
  emailKey: text,
  name: text,
  role: fc.constantFrom(...roles),
  status: fc.constantFrom('active', 'disabled'),
  passwordHash: text,
  createdAt: epoch,
  lastLoginAt: orNull(epoch),
  orgId: orNull(text),
  teamId: orNull(text),
});

export const someIdentity: fc.Arbitrary<Identity> = fc.record({
  id: text,
  accountId: fc.constantFrom('ada', 'bob'),
  issuer: text,
  subject: text,
  linkedAt: epoch,
});

export const someSession: fc.Arbitrary<Session> = fc.record({
  id: text,
  accountId: fc.constantFrom('ada', 'bob'),
  via: fc.constantFrom('password', 'oidc'),
  rememberMe: fc.boolean(),
  createdAt: epoch,
  lastUsedAt: epoch,
  expiresAt: epoch,
  endedAt: orNull(epoch),
  address: text,
  userAgent: text,
});

export const someRefreshToken: fc.Arbitrary<RefreshToken> = fc.record({
  hash: text,
  sessionId: text,
  usedAt: orNull(epoch),
});

export const someInvite: fc.Arbitrary<Invite> = fc.record({
  id: text,
  email: text,
  emailKey: text,
  role: fc.constantFrom(...roles),
  invitedBy: text,
  madeBy: orNull(fc.record({ kind: fc.constantFrom('account', 'api_key'), id: text })),
  asOwner: fc.boolean(),
  orgId: orNull(text),
  teamId: orNull(text),
  createdAt: epoch,
  expiresAt: epoch,
});

export const someSentToken: fc.Arbitrary<SentToken> = fc.record({
  hash: text,
  purpose: fc.constantFrom('invite', 'reset', 'cli'),
  subjectId: text,
  expiresAt: epoch,
});

export const someAttempts: fc.Arbitrary<Attempts> = fc.record({
  emailHash: text,
  count: fc.integer({ min: 0, max: 1_000_000 }),
  lockedUntil: orNull(epoch),
  updatedAt: epoch,
});

export const someLetter: fc.Arbitrary<QueuedLetter> = fc.record({
  id: text,
  kind: fc.constantFrom('invite', 'reset'),
  subjectId: text,
  createdAt: epoch,
  dueAt: epoch,
  failures: fc.integer({ min: 0, max: 100 }),
});

export const someOutboxEntry: fc.Arbitrary<OutboxEntry> = fc.record({ id: text, at: epoch, draft: text });
