import type { Person, Principal } from '../access/index.ts';
import { scopesOfRole } from '../access/index.ts';
import type { AccountRows } from './account-store.ts';
import type { Account, Session, SignIn } from './account.ts';
import type { Accounts, Origin } from './accounts.ts';
import { lock } from './accounts.ts';
import { changeAccounts, personOf } from './change-accounts.ts';
import { isOpen } from './find-people.ts';
import { ReeveError } from '../kernel/index.ts';

/** What a person gets after logging in. */
export interface SessionGrant {
  readonly account: Account;
  readonly accessToken: string;
  readonly expiresInSecs: number;
  /** Goes into the cookie and nowhere else. */
  readonly refreshToken: string;
  readonly refreshTtlSecs: number;
}

/** A session as stored, with the refresh token that only its owner gets. */
export interface OpenSession {
  readonly account: Account;
  readonly session: Session;
  readonly refreshToken: string;
}

const longestUserAgent = 256;

export async function openSession(
  accounts: Accounts,
  rows: AccountRows,
  account: Account,
  { rememberMe, via }: { readonly rememberMe: boolean; readonly via: SignIn },
  from: Origin,
): Promise<OpenSession> {
  const { access } = accounts;
  const now = access.clock.now();
  const session: Session = {
    id: `ses_${access.randomness.hex(16)}`,
    accountId: account.id,
    via,
    rememberMe,
    createdAt: now,
    lastUsedAt: now,
    expiresAt: now + refreshTtlMs(accounts, rememberMe),
    endedAt: null,
    address: from.address,
    userAgent: from.userAgent.slice(0, longestUserAgent),
  };
  await rows.saveSession(session);
  const refreshToken = await newRefreshToken(accounts, rows, session.id);
  return { account, session, refreshToken };
}

/** Makes the next refresh token of a session. */
export async function newRefreshToken(accounts: Accounts, rows: AccountRows, sessionId: string): Promise<string> {
  const { access } = accounts;
  const token = `rvr_${access.randomness.base64url(32)}`;
  await rows.saveRefreshToken({ hash: access.sha256(token), sessionId, usedAt: null });
  return token;
}

export function refreshTtlMs({ settings }: Accounts, rememberMe: boolean): number {
  return rememberMe ? settings.refreshTtlRememberMs : settings.refreshTtlMs;
}

/** Signs the access token of a session. It awaits the signature, so never call it within a transaction. */
export async function grantFor(accounts: Accounts, open: OpenSession): Promise<SessionGrant> {
  const { access } = accounts;
  const { mint, signingKeys } = access;
  const { account, session, refreshToken } = open;
  const signingKey = signingKeys.current;
  if (signingKey === undefined) throw new Error('there is no signing key');
  const now = access.clock.now();
  const accessToken = await mint.sign(
    {
      sub: account.id,
      kind: 'account',
      sessionId: session.id,
      role: account.role,
      scopes: scopesOfRole[account.role],
      orgId: account.orgId,
      teamId: account.teamId,
      issuedAt: now,
      expiresAt: now + accounts.settings.accessTokenTtlMs,
      tokenId: access.randomness.hex(16),
    },
    signingKey,
  );
  return {
    account,
    accessToken,
    expiresInSecs: Math.floor(accounts.settings.accessTokenTtlMs / 1000),
    refreshToken,
    refreshTtlSecs: Math.floor(refreshTtlMs(accounts, session.rememberMe) / 1000),
  };
}

/** Ends the session of a refresh token and returns how it was opened. Without an open session it does nothing. */
export async function logOut(accounts: Accounts, token: string | undefined, from: Origin): Promise<SignIn | undefined> {
  if (token === undefined) return undefined;
  const hash = accounts.access.sha256(token);
  const known = await accounts.store.read((rows) => rows.refreshToken(hash));
  return known === undefined ? undefined : await endSession(accounts, null, known.sessionId, 'logged out', from);
}

/** The caller's open sessions, newest first. */
export function listSessions(accounts: Accounts, { login: { accountId } }: Person): Promise<readonly Session[]> {
  return accounts.store.read((rows) => rows.liveSessions(accountId, accounts.access.clock.now()));
}

/** Ends one of the caller's own sessions. */
export async function revokeSession(accounts: Accounts, by: Person, id: string, from: Origin): Promise<void> {
  const session = await accounts.store.read((rows) => rows.session(id));
  const now = accounts.access.clock.now();
  if (session?.accountId !== by.login.accountId || !isOpen(session, now)) {
    throw new ReeveError('session_not_found', 'there is no such session of yours');
  }
  await endSession(accounts, by, id, 'revoked', from);
}

async function endSession(
  accounts: Accounts,
  by: Principal | null,
  id: string,
  reason: string,
  from: Origin,
): Promise<SignIn | undefined> {
  const ended = await changeAccounts(accounts, by, [lock.session(id)], async (rows, audit) => {
    const now = accounts.access.clock.now();
    const found = await rows.sessionWithAccount(id);
    if (found === undefined || !isOpen(found.session, now)) return undefined;
    await rows.saveSession({ ...found.session, endedAt: now });
    const details = { account_id: found.account.id, session_id: id };
    await audit('SessionEnded', { actor: personOf(found.account), from, reason }, details);
    return found.session;
  });
  return ended?.via;
}

export function sessionEnded(): ReeveError {
  return new ReeveError('session_ended', 'there is no session, or it has ended; log in again');
}
