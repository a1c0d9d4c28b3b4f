import { ReeveError } from '../kernel/errors.ts';
import type { Account } from './account.ts';
import type { AccountRows } from './account-store.ts';
import type { Accounts, Origin } from './accounts.ts';
import { emailHashOf, lock } from './accounts.ts';
import type { Note } from './change-accounts.ts';
import { changeAccounts, personOf, somebody } from './change-accounts.ts';
import { countFailure, isLocked, refuseLocked } from './failed-attempts.ts';
import type { Email } from './email.ts';
import { requireEmail } from './email.ts';
import type { SessionGrant, OpenSession } from './open-session.ts';
import { grantFor, openSession } from './open-session.ts';
import { normalisePassword } from './password-rules.ts';

export interface LoginRequest {
  readonly email: string;
  readonly password: string;
  readonly rememberMe: boolean;
}

/**
 * Logs a person in. Whatever is wrong, the work is the same: an unknown email is verified against a hash of nobody's
 * password and is counted and locked like any other, so neither answer nor time tells whether it has an account.
 */
export async function logIn(accounts: Accounts, request: LoginRequest, from: Origin): Promise<SessionGrant> {
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
  const outcome = await changeAccounts(accounts, locks, async (rows, note) => {
    const lockedMs = await isLocked(accounts, rows, emailHash);
    if (lockedMs > 0) return refuseLocked(note, { actor: somebody, from }, emailHash, lockedMs);
    const current = verified === undefined ? undefined : await rows.account(verified.id);
    // A password that was changed, or an account that was disabled, while it was being verified.
    if (current?.passwordHash !== verified?.passwordHash || current?.status !== 'active') {
      const by = { actor: somebody, from, reason: 'wrong email or password' };
      await countFailure(accounts, rows, note, { emailHash, accountId: account?.id ?? null, by });
      return new ReeveError('wrong_credentials', 'the email or the password is wrong');
    }
    return completeLogin(accounts, rows, note, { account: current, renewed, emailHash, request, from });
  });
  if (outcome instanceof ReeveError) throw outcome;
  return grantFor(accounts, outcome);
}

/** Refuses at once what is locked, and otherwise looks the account up. */
async function findUnlessLocked(
  accounts: Accounts,
  email: Email,
  emailHash: string,
  from: Origin,
): Promise<Account | undefined> {
  const { account, lockedMs } = await accounts.store.read(async (rows) => ({
    account: await rows.accountByEmail(email.key),
    lockedMs: await isLocked(accounts, rows, emailHash),
  }));
  if (lockedMs === 0) return account;
  throw await changeAccounts(accounts, [], (_rows, note) =>
    refuseLocked(note, { actor: somebody, from }, emailHash, lockedMs),
  );
}

async function completeLogin(
  accounts: Accounts,
  rows: AccountRows,
  note: Note,
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
  const open = await openSession(accounts, rows, account, request.rememberMe, from);
  const details = { account_id: account.id, remember_me: request.rememberMe, session_id: open.session.id };
  await note('LoginSucceeded', { actor: personOf(account), from }, details);
  return open;
}
