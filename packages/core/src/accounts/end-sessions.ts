import type { Principal } from '../access/principal.ts';
import type { EpochMs } from '../kernel/clock.ts';
import { ReeveError } from '../kernel/errors.ts';
import type { Session } from './account.ts';
import type { Accounts, Origin } from './accounts.ts';
import { lock } from './accounts.ts';
import { changeAccounts, personOf } from './change-accounts.ts';
import { requireLogin } from './require-login.ts';

/** Ends the session that a refresh token belongs to. Where there is none, there is nothing to do. */
export async function logOut(accounts: Accounts, token: string | undefined, from: Origin): Promise<void> {
  if (token === undefined) return;
  const hash = accounts.access.sha256(token);
  const known = await accounts.store.read((rows) => rows.refreshToken(hash));
  if (known !== undefined) await endSession(accounts, known.sessionId, 'logged out', from);
}

/** The sessions of the caller that are open, newest first. */
export function listSessions(accounts: Accounts, by: Principal): Promise<readonly Session[]> {
  const { accountId } = requireLogin(by);
  return accounts.store.read((rows) => rows.liveSessions(accountId, accounts.access.clock.now()));
}

/** Ends one of the caller's own sessions. */
export async function revokeSession(accounts: Accounts, by: Principal, id: string, from: Origin): Promise<void> {
  const { accountId } = requireLogin(by);
  const session = await accounts.store.read((rows) => rows.session(id));
  const now = accounts.access.clock.now();
  if (session?.accountId !== accountId || !isOpen(session, now)) {
    throw new ReeveError('session_not_found', 'there is no such session of yours');
  }
  await endSession(accounts, id, 'revoked', from);
}

async function endSession(accounts: Accounts, id: string, reason: string, from: Origin): Promise<void> {
  const ended = await changeAccounts(accounts, [lock.session(id)], async (rows, note) => {
    const now = accounts.access.clock.now();
    const found = await rows.sessionWithAccount(id);
    if (found === undefined || !isOpen(found.session, now)) return undefined;
    await rows.saveSession({ ...found.session, endedAt: now });
    const details = { account_id: found.account.id, session_id: id };
    await note('SessionEnded', { actor: personOf(found.account), from, reason }, details);
    return found.account.id;
  });
  if (ended !== undefined) accounts.onSessionEnd(ended);
}

export function isOpen(session: Session, now: EpochMs): boolean {
  return session.endedAt === null && now < session.expiresAt;
}
