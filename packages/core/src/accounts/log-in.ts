import type { AccountRows } from './account-store.ts';
import type { Account, Attempts } from './account.ts';
import type { Accounts, Origin, AccountSettings } from './accounts.ts';
import { emailHashOf, lock, requirePasswords } from './accounts.ts';
import type { AuditWriter, AuditSource } from './change-accounts.ts';
import { changeAccounts, personOf, somebody } from './change-accounts.ts';
import type { Email } from './email.ts';
import { requireEmail } from './email.ts';
import { normalisePassword } from './password-rules.ts';
import type { SessionGrant, OpenSession } from './sessions.ts';
import { grantFor, openSession } from './sessions.ts';
import type { EpochMs } from '../kernel/index.ts';
import { ReeveError } from '../kernel/index.ts';

export interface LoginRequest {
  readonly email: string;
  readonly password: string;
  readonly rememberMe: boolean;
}

/**
 * Logs a person in. The work is the same whatever is wrong. An unknown email is verified against a hash of nobody's
 * password, and is counted and locked like any other. So neither the answer nor its timing reveals whether there is an
 * account.
 */
export async function logIn(accounts: Accounts, request: LoginRequest, from: Origin): Promise<SessionGrant> {
  requirePasswords(accounts);
  const email = requireEmail(request.email);
  const emailHash = emailHashOf(accounts, email.key);
  const account = await findUnlessLocked(accounts, email, emailHash, from);
  const known = account?.status === 'active' ? account : undefined;
  const { ok, outdated } = await accounts.hasher.verify(
    normalisePassword(request.password),
    account?.passwordHash ?? accounts.hasher.decoy,
  );
  const verified = ok ? known : undefined;
  const renewed =
    verified !== undefined && outdated ? await accounts.hasher.hash(normalisePassword(request.password)) : undefined;
  const locks = [lock.email(emailHash), ...(account === undefined ? [] : [lock.account(account.id)])];
  const outcome = await changeAccounts(accounts, null, locks, async (rows, audit) => {
    const lockedMs = await remainingLockMs(accounts, rows, emailHash);
    if (lockedMs > 0) return refuseLocked(audit, { actor: somebody, from }, emailHash, lockedMs);
    const current = verified === undefined ? undefined : await rows.account(verified.id);
    // The password was wrong, or somebody changed it or disabled the account during the verification.
    if (current?.passwordHash !== verified?.passwordHash || current?.status !== 'active') {
      const by = { actor: somebody, from, reason: 'wrong email or password' };
      await countFailure(accounts, rows, audit, { emailHash, accountId: account?.id ?? null, by });
      return new ReeveError('wrong_credentials', 'the email or the password is wrong');
    }
    return completeLogin(accounts, rows, audit, { account: current, renewed, emailHash, request, from });
  });
  if (outcome instanceof ReeveError) throw outcome;
  return grantFor(accounts, outcome);
}

/** Refuses a locked email at once. Otherwise looks the account up. */
async function findUnlessLocked(
  accounts: Accounts,
  email: Email,
  emailHash: string,
  from: Origin,
): Promise<Account | undefined> {
  const { account, lockedMs } = await accounts.store.read(async (rows) => ({
    account: await rows.accountByEmail(email.key),
    lockedMs: await remainingLockMs(accounts, rows, emailHash),
  }));
  if (lockedMs === 0) return account;
  throw await changeAccounts(accounts, null, [], (_rows, audit) =>
    refuseLocked(audit, { actor: somebody, from }, emailHash, lockedMs),
  );
}

async function completeLogin(
  accounts: Accounts,
  rows: AccountRows,
  audit: AuditWriter,
  about: {
    readonly account: Account;
    readonly renewed: string | undefined;
    readonly emailHash: string;
    readonly request: LoginRequest;
    readonly from: Origin;
  },
): Promise<OpenSession> {
  const { emailHash, request, from } = about;
  const account: Account = {
    ...about.account,
    passwordHash: about.renewed ?? about.account.passwordHash,
    lastLoginAt: accounts.access.clock.now(),
  };
  await rows.removeAttempts(emailHash);
  await rows.saveAccount(account);
  const open = await openSession(accounts, rows, account, { rememberMe: request.rememberMe, via: 'password' }, from);
  const details = { account_id: account.id, remember_me: request.rememberMe, session_id: open.session.id };
  await audit('LoginSucceeded', { actor: personOf(account), from }, details);
  return open;
}

type Rules = Pick<AccountSettings, 'lockoutAttempts' | 'lockoutMs'>;

/**
 * How long a lock still holds; 0 if there is none. A lock with more time left than any lock lasts was set before the
 * clock was set back. It no longer holds: otherwise nobody could log in until the clock catches up.
 */
export function lockedForMs(attempts: Attempts | undefined, rules: Rules, now: EpochMs): number {
  const remaining = (attempts?.lockedUntil ?? now) - now;
  return remaining > 0 && remaining <= rules.lockoutMs ? remaining : 0;
}

/** The attempts after one more failure. The end of a lock clears the count. */
export function afterFailure(
  attempts: Attempts | undefined,
  emailHash: string,
  rules: Rules,
  now: EpochMs,
): Attempts & { readonly isLocked: boolean } {
  const before = attempts === undefined || attempts.lockedUntil !== null ? 0 : attempts.count;
  const count = before + 1;
  const isLocked = count >= rules.lockoutAttempts;
  return { emailHash, count, lockedUntil: isLocked ? now + rules.lockoutMs : null, updatedAt: now, isLocked };
}

export function locked(forMs: number): ReeveError {
  const secs = Math.max(1, Math.ceil(forMs / 1000));
  return new ReeveError('account_locked', `too many failed logins; try again in ${secs} seconds`, {
    retry_after_secs: secs,
  });
}

/** How long passwords for an email are refused unchecked; 0 if they are checked. */
export async function remainingLockMs(
  { access, settings }: Accounts,
  rows: AccountRows,
  emailHash: string,
): Promise<number> {
  return lockedForMs(await rows.attempts(emailHash), settings, access.clock.now());
}

/** Records an attempt during a lock. The attempt does not extend the lock. */
export async function refuseLocked(
  audit: AuditWriter,
  { actor, from }: AuditSource,
  emailHash: string,
  lockedMs: number,
): Promise<ReeveError> {
  await audit('LoginFailed', { actor, from, reason: 'locked' }, { email_hash: emailHash });
  return locked(lockedMs);
}

/** Counts a wrong password, whichever call it came with. Too many in a row lock the email. */
export async function countFailure(
  { access, settings }: Accounts,
  rows: AccountRows,
  audit: AuditWriter,
  about: { readonly emailHash: string; readonly accountId: string | null; readonly by: AuditSource },
): Promise<void> {
  const { emailHash, accountId, by } = about;
  const { isLocked: nowLocked, ...attempts } = afterFailure(
    await rows.attempts(emailHash),
    emailHash,
    settings,
    access.clock.now(),
  );
  await rows.saveAttempts(attempts);
  const details = { account_id: accountId, email_hash: emailHash, failures: attempts.count };
  await audit('LoginFailed', by, details);
  if (nowLocked) await audit('AccountLocked', { actor: by.actor, from: by.from }, details);
}
