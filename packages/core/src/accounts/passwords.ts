import type { Person } from '../access/index.ts';
import { ReeveError } from '../kernel/index.ts';
import type { Account } from './account.ts';
import { noPassword } from './account.ts';
import type { AccountRows } from './account-store.ts';
import type { Accounts, Origin } from './accounts.ts';
import { emailHashOf, lock, passwordOff, requirePasswords } from './accounts.ts';
import { changeAccounts, personOf, somebody } from './change-accounts.ts';
import { parseEmail, invalidToken, openedBy } from './email.ts';
import { countFailure, refuseLocked, remainingLockMs } from './log-in.ts';
import { checkNewPassword, normalisePassword } from './password-rules.ts';

/** Queues a letter with a reset link, if an active account with a password has this email. Call this after the answer has left. */
export async function requestReset(accounts: Accounts, given: string, from: Origin): Promise<void> {
  const email = parseEmail(given);
  if (email === undefined) return;
  const account = await accounts.store.read((rows) => rows.accountByEmail(email.key));
  if (account?.status !== 'active' || account.passwordHash === noPassword) return;
  await changeAccounts(accounts, null, [lock.account(account.id)], async (rows, audit) => {
    const { access } = accounts;
    const now = access.clock.now();
    const id = access.randomness.hex(16);
    await rows.saveLetter({ id, kind: 'reset', subjectId: account.id, createdAt: now, dueAt: now, failures: 0 });
    await audit('PasswordResetRequested', { actor: somebody, from }, { account_id: account.id });
  });
}

/**
 * Sets a new password with a reset token. It ends all sessions and lifts a lock: the reader of the mail is the owner.
 */
export async function confirmReset(
  accounts: Accounts,
  request: { readonly token: string; readonly password: string },
  from: Origin,
): Promise<void> {
  requirePasswords(accounts);
  checkNewPassword(request.password, {});
  const account = await accounts.store.read((rows) => resetting(accounts, rows, request.token));
  if (account === undefined) throw invalidToken();
  checkNewPassword(request.password, account);
  const passwordHash = await accounts.hasher.hash(normalisePassword(request.password));
  await changeAccounts(accounts, null, locksOf(accounts, account), async (rows, audit) => {
    const current = await resetting(accounts, rows, request.token);
    if (current?.id !== account.id) throw invalidToken();
    await setPassword(accounts, rows, current, passwordHash);
    await audit('PasswordReset', { actor: personOf(current), from }, { account_id: current.id });
  });
}

/**
 * Changes the caller's own password. All sessions end, including this one. A wrong current password counts as a failed
 * login: a stolen session must not serve to guess the password.
 */
export async function changePassword(
  accounts: Accounts,
  by: Person,
  request: { readonly currentPassword: string; readonly password: string },
  from: Origin,
): Promise<void> {
  const { accountId } = by.login;
  requirePasswords(accounts);
  const account = await accounts.store.read((rows) => rows.account(accountId));
  if (account === undefined) throw wrongPassword();
  if (account.passwordHash === noPassword)
    throw passwordOff('this account signs in by single sign-on and has no password');
  checkNewPassword(request.password, account);
  const emailHash = emailHashOf(accounts, account.emailKey);
  const person = { actor: personOf(account), from };
  const lockedMs = await accounts.store.read((rows) => remainingLockMs(accounts, rows, emailHash));
  if (lockedMs > 0) {
    throw await changeAccounts(accounts, by, [], (_rows, audit) => refuseLocked(audit, person, emailHash, lockedMs));
  }
  const { ok } = await accounts.hasher.verify(normalisePassword(request.currentPassword), account.passwordHash);
  const passwordHash = ok ? await accounts.hasher.hash(normalisePassword(request.password)) : '';
  const failure = await changeAccounts(accounts, by, locksOf(accounts, account), async (rows, audit) => {
    const stillMs = await remainingLockMs(accounts, rows, emailHash);
    if (stillMs > 0) return refuseLocked(audit, person, emailHash, stillMs);
    const current = await rows.account(accountId);
    if (!ok) {
      const wrong = { ...person, reason: 'wrong current password' };
      await countFailure(accounts, rows, audit, { emailHash, accountId, by: wrong });
    }
    // Somebody may have changed the password meanwhile.
    if (!ok || current?.passwordHash !== account.passwordHash) return wrongPassword();
    await setPassword(accounts, rows, current, passwordHash);
    await audit('PasswordChanged', person, { account_id: current.id });
    return undefined;
  });
  if (failure !== undefined) throw failure;
}

function locksOf(accounts: Accounts, account: Account): string[] {
  return [lock.account(account.id), lock.email(emailHashOf(accounts, account.emailKey))];
}

async function resetting(accounts: Accounts, rows: AccountRows, token: string): Promise<Account | undefined> {
  const sent = await openedBy(accounts, rows, 'reset', token);
  const account = sent === undefined ? undefined : await rows.account(sent.subjectId);
  return account?.status === 'active' ? account : undefined;
}

async function setPassword(
  accounts: Accounts,
  rows: AccountRows,
  account: Account,
  passwordHash: string,
): Promise<void> {
  await rows.saveAccount({ ...account, passwordHash });
  await rows.endSessions(account.id, accounts.access.clock.now());
  await rows.removeSentTokens('reset', account.id);
  await rows.removeAttempts(emailHashOf(accounts, account.emailKey));
}

function wrongPassword(): ReeveError {
  return new ReeveError('wrong_password', 'the current password is wrong');
}
