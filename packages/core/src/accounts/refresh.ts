import { ReeveError } from '../kernel/index.ts';
import type { AccountRows } from './account-store.ts';
import type { Accounts, Origin } from './accounts.ts';
import { lock } from './accounts.ts';
import type { AuditWriter } from './change-accounts.ts';
import { changeAccounts, personOf } from './change-accounts.ts';
import type { SessionGrant, OpenSession } from './sessions.ts';
import { isAdmitted } from './find-people.ts';
import { grantFor, newRefreshToken, refreshTtlMs, sessionEnded } from './sessions.ts';

/** Two tabs may send the same token at once. A used token that comes back later than this was stolen. */
const racingMs = 10_000;

/**
 * Exchanges a refresh token for the next one and an access token. Each token works once. A used token that comes back
 * ends the whole session, because one of its two holders should not have it.
 */
export async function refresh(accounts: Accounts, token: string | undefined, from: Origin): Promise<SessionGrant> {
  const hash = accounts.access.sha256(token ?? '');
  const session = await accounts.store.read(async (rows) => {
    const known = await rows.refreshToken(hash);
    return known === undefined ? undefined : await rows.session(known.sessionId);
  });
  if (session === undefined) throw sessionEnded();
  // Takes the account's lock, too: a rotation must not overtake what ends all of its sessions.
  const locks = [lock.session(session.id), lock.account(session.accountId)];
  const outcome = await changeAccounts(accounts, null, locks, (rows, audit) =>
    rotate(accounts, rows, audit, hash, from),
  );
  if (outcome instanceof ReeveError) throw outcome;
  return grantFor(accounts, outcome);
}

async function rotate(
  accounts: Accounts,
  rows: AccountRows,
  audit: AuditWriter,
  hash: string,
  from: Origin,
): Promise<OpenSession | ReeveError> {
  const now = accounts.access.clock.now();
  const token = await rows.refreshToken(hash);
  const found = token === undefined ? undefined : await rows.sessionWithAccount(token.sessionId);
  if (token === undefined || found === undefined) return sessionEnded();
  const { session, account } = found;
  const isOver = session.endedAt !== null || session.expiresAt <= now || !isAdmitted(session, accounts.settings);
  if (isOver || account.status !== 'active') return sessionEnded();
  if (token.usedAt !== null && now - token.usedAt <= racingMs) {
    return new ReeveError('refresh_raced', 'another request has just refreshed this session; use its answer');
  }
  if (token.usedAt !== null) {
    await rows.saveSession({ ...session, endedAt: now });
    const details = { account_id: account.id, session_id: session.id };
    await audit('RefreshTokenReused', { actor: personOf(account), from }, details);
    return sessionEnded();
  }
  await rows.saveRefreshToken({ ...token, usedAt: now });
  const renewed = { ...session, lastUsedAt: now, expiresAt: now + refreshTtlMs(accounts, session.rememberMe) };
  await rows.saveSession(renewed);
  return { account, session: renewed, refreshToken: await newRefreshToken(accounts, rows, session.id) };
}
