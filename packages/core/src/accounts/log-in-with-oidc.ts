import type { HeldRole } from '../access/index.ts';
import { isSameBinding } from '../access/index.ts';
import { redactText } from '../audit/index.ts';
import { ReeveError } from '../kernel/index.ts';
import type { AccountRows } from './account-store.ts';
import type { Account } from './account.ts';
import { noPassword } from './account.ts';
import type { Accounts, Origin } from './accounts.ts';
import { emailHashOf, lock } from './accounts.ts';
import type { AuditWriter } from './change-accounts.ts';
import { changeAccounts, personOf, somebody } from './change-accounts.ts';
import type { Email } from './email.ts';
import { isSameAddress, parseEmail } from './email.ts';
import { roleFor } from './oidc-rules.ts';
import type { OpenSession, SessionGrant } from './sessions.ts';
import { grantFor, openSession } from './sessions.ts';

/** A person as the provider vouches for them. */
export interface OidcPerson {
  readonly issuer: string;
  readonly subject: string;
  readonly email: string | null;
  /** Whether the provider says that it has verified the email. */
  readonly isEmailVerified: boolean;
  readonly name: string;
  /** The values of the role claim. */
  readonly roleValues: readonly string[];
}

interface Attempt {
  readonly accounts: Accounts;
  readonly person: OidcPerson;
  readonly identityId: string;
  readonly email: Email | undefined;
  readonly held: HeldRole | undefined;
  readonly linkByEmail: boolean;
  readonly from: Origin;
}

type Outcome = OpenSession | ReeveError | 'moved';

/** Somebody else may change the account between the look at it and its lock. */
const mostTries = 3;

/**
 * Logs in a person whom the provider vouches for. The account is the one of issuer and subject, else a new one. Role
 * and tenant come from the provider each time. The log names refused people by a hash of issuer and subject.
 */
export async function logInWithOidc(accounts: Accounts, person: OidcPerson, from: Origin): Promise<SessionGrant> {
  const rules = accounts.settings.oidc;
  if (rules === null) throw new ReeveError('sign_on_off', 'single sign-on is not configured on this gateway');
  const attempt: Attempt = {
    accounts,
    person,
    identityId: accounts.access.sha256(JSON.stringify([person.issuer, person.subject])),
    email: person.email === null ? undefined : parseEmail(person.email),
    held: roleFor(rules, person.roleValues),
    linkByEmail: rules.linkByEmail,
    from,
  };
  for (let tries = 0; tries < mostTries; tries++) {
    const outcome = await tryOnce(attempt);
    if (outcome === 'moved') continue;
    if (outcome instanceof ReeveError) throw outcome;
    return grantFor(accounts, outcome);
  }
  throw new ReeveError('overloaded', 'the account is being changed by others; try again');
}

/** Records that a sign-on failed before anybody was known. */
export async function noteFailedSignOn(accounts: Accounts, reason: string, from: Origin): Promise<void> {
  await changeAccounts(accounts, null, [], (_rows, audit) =>
    audit('LoginFailed', { actor: somebody, from, reason }, { method: 'oidc' }),
  );
}

async function tryOnce(attempt: Attempt): Promise<Outcome> {
  const { accounts, identityId, email } = attempt;
  const before = await accounts.store.read((rows) => accountOf(attempt, rows));
  const locks = [lock.identity(identityId), lock.owners];
  if (email !== undefined) locks.push(lock.email(emailHashOf(accounts, email.key)));
  if (before !== undefined) locks.push(lock.account(before.account.id));
  return changeAccounts(accounts, null, locks, async (rows, audit) => {
    const found = await accountOf(attempt, rows);
    if (found?.account.id !== before?.account.id) return 'moved';
    return admit(attempt, rows, audit, found);
  });
}

interface Found {
  readonly account: Account;
  /** By issuer and subject, and not only by email. */
  readonly isTheirs: boolean;
}

async function accountOf({ identityId, email }: Attempt, rows: AccountRows): Promise<Found | undefined> {
  const identity = await rows.identity(identityId);
  const own = identity === undefined ? undefined : await rows.account(identity.accountId);
  if (own !== undefined) return { account: own, isTheirs: true };
  const same = email === undefined ? undefined : await rows.accountByEmail(email.key);
  return same && { account: same, isTheirs: false };
}

async function admit(
  attempt: Attempt,
  rows: AccountRows,
  audit: AuditWriter,
  found: Found | undefined,
): Promise<Outcome> {
  const refusal = await refusalOf(attempt, rows, found);
  if (refusal !== undefined) return refuse(attempt, rows, audit, found, refusal);
  const { accounts, person, held, from } = attempt;
  const account = found?.account ?? newAccount(attempt);
  if (held === undefined || account === undefined) throw new Error('a refusal should have come first');
  const now = accounts.access.clock.now();
  const named = person.name === '' ? account.name : redactText(person.name);
  const isLinked = found?.isTheirs === false;
  const next: Account = {
    ...account,
    ...held,
    name: named,
    lastLoginAt: now,
    passwordHash: isLinked ? noPassword : account.passwordHash,
  };
  await rows.saveAccount(next);
  const by = { actor: personOf(next), from };
  const about = { account_id: next.id, identity_hash: attempt.identityId };
  const details = { ...about, email: next.email, role: next.role, org_id: next.orgId, team_id: next.teamId };
  if (found?.isTheirs !== true) await saveIdentity(attempt, rows, next.id);
  if (found === undefined) await audit('AccountRegistered', by, details);
  else if (isLinked) await link(attempt, rows, audit, next);
  const hasMoved = found !== undefined && (account.role !== next.role || !isSameBinding(account, next));
  if (hasMoved) {
    const was = { role: account.role, org_id: account.orgId, team_id: account.teamId };
    await audit('AccountChanged', { ...by, reason: 'single sign-on' }, { ...details, status: next.status, was });
  }
  const open = await openSession(accounts, rows, next, { rememberMe: false, via: 'oidc' }, from);
  await audit('LoginSucceeded', by, { ...about, method: 'oidc', remember_me: false, session_id: open.session.id });
  return open;
}

type Refusal = 'no_role' | 'account_disabled' | 'email_missing' | 'email_taken';

const words: Readonly<Record<Refusal, string>> = {
  no_role: 'you have no role on this gateway; ask its administrators for one',
  account_disabled: 'your account is disabled; ask an administrator',
  email_missing: 'the provider has sent no usable email address',
  email_taken: 'there is an account with your email that is not yours by single sign-on; ask an administrator',
};

async function refusalOf(attempt: Attempt, rows: AccountRows, found: Found | undefined): Promise<Refusal | undefined> {
  const { held, email, linkByEmail, person } = attempt;
  if (found?.isTheirs === false) {
    if (!linkByEmail || !person.isEmailVerified) return 'email_taken';
    if (!isSameAddress(person.email ?? '', found.account.email)) return 'email_taken';
    // Somebody else of the same provider has this account: an address may pass on to another person.
    const known = await rows.identitiesOf(found.account.id);
    if (known.some(({ issuer }) => issuer === person.issuer)) return 'email_taken';
  }
  if (found?.account.status === 'disabled') return 'account_disabled';
  if (held === undefined) return 'no_role';
  return found === undefined && email === undefined ? 'email_missing' : undefined;
}

/** Records the refusal. Who has no role any more has no session either. */
async function refuse(
  { accounts, identityId, from }: Attempt,
  rows: AccountRows,
  audit: AuditWriter,
  found: Found | undefined,
  refusal: Refusal,
): Promise<ReeveError> {
  const account = found?.isTheirs === true ? found.account : undefined;
  if (account !== undefined) await rows.endSessions(account.id, accounts.access.clock.now());
  const actor = account === undefined ? somebody : personOf(account);
  const details = { account_id: account?.id ?? null, identity_hash: identityId, method: 'oidc' };
  await audit('LoginFailed', { actor, from, reason: refusal }, details);
  return new ReeveError(refusal, words[refusal]);
}

function newAccount({ accounts, email }: Attempt): Account | undefined {
  if (email === undefined) return undefined;
  const now = accounts.access.clock.now();
  return {
    id: `acc_${accounts.access.randomness.hex(12)}`,
    email: email.text,
    emailKey: email.key,
    name: '',
    role: 'viewer',
    status: 'active',
    orgId: null,
    teamId: null,
    passwordHash: noPassword,
    createdAt: now,
    lastLoginAt: now,
  };
}

async function saveIdentity({ accounts, person, identityId }: Attempt, rows: AccountRows, id: string): Promise<void> {
  const { issuer, subject } = person;
  await rows.saveIdentity({ id: identityId, accountId: id, issuer, subject, linkedAt: accounts.access.clock.now() });
}

/**
 * Whoever made the account may not have been the owner of its email. So the password and the sessions from before do
 * not open it any more.
 */
async function link({ accounts, identityId, from }: Attempt, rows: AccountRows, audit: AuditWriter, account: Account) {
  const ended = await rows.endSessions(account.id, accounts.access.clock.now());
  await rows.removeSentTokens('reset', account.id);
  const details = { account_id: account.id, email: account.email, identity_hash: identityId };
  await audit('AccountLinked', { actor: personOf(account), from }, { ...details, sessions_ended: ended.length });
}
