import type { Person } from '../access/index.ts';
import type { Accounts, Origin } from './accounts.ts';
import { lock } from './accounts.ts';
import { changeAccounts, personOf } from './change-accounts.ts';
import { invalidToken } from './email.ts';
import type { SessionGrant } from './sessions.ts';
import { isAdmitted, isOpen } from './find-people.ts';
import { grantFor, openSession, sessionEnded } from './sessions.ts';

const codeTtlMs = 60_000;

/**
 * Makes a code with which a command line gets a session of its own. Only the command that knows what `challenge` is the
 * SHA-256 of can use it, once. The code ends with the session of the person who lets the command in. It takes the
 * refresh token of that session, too: an access token lasts for minutes, and must not be worth a lasting session.
 */
export async function makeCliCode(
  accounts: Accounts,
  by: Person,
  challenge: string,
  refreshToken: string | undefined,
): Promise<{ readonly code: string; readonly expiresAt: number }> {
  const { sessionId } = by.login;
  const { access } = accounts;
  const code = `rvl_${access.randomness.base64url(32)}`;
  const expiresAt = access.clock.now() + codeTtlMs;
  const hash = hashOf(accounts, code, challenge);
  await changeAccounts(accounts, by, [lock.session(sessionId)], async (rows) => {
    const held = await rows.refreshToken(access.sha256(refreshToken ?? ''));
    if (held?.sessionId !== sessionId || held.usedAt !== null) throw sessionEnded();
    await rows.removeSentTokens('cli', sessionId);
    await rows.saveSentToken({ hash, purpose: 'cli', subjectId: sessionId, expiresAt });
  });
  return { code, expiresAt };
}

/** Opens a session with such a code, for the same account. */
export async function openCliSession(
  accounts: Accounts,
  request: { readonly code: string; readonly verifier: string },
  from: Origin,
): Promise<SessionGrant> {
  const { access, settings, store } = accounts;
  const hash = hashOf(accounts, request.code, access.sha256(request.verifier));
  const known = await store.read((rows) => rows.sentToken(hash));
  if (known?.purpose !== 'cli') throw invalidToken();
  const by = known.subjectId;
  const session = await store.read((rows) => rows.session(by));
  if (session === undefined) throw invalidToken();
  const open = await changeAccounts(
    accounts,
    null,
    [lock.session(by), lock.account(session.accountId)],
    async (rows, audit) => {
      const now = access.clock.now();
      const sent = await rows.sentToken(hash);
      const found = await rows.sessionWithAccount(by);
      if (sent === undefined || sent.expiresAt <= now || found === undefined) throw invalidToken();
      const isGood = isOpen(found.session, now) && isAdmitted(found.session, settings);
      if (!isGood || found.account.status !== 'active') throw invalidToken();
      await rows.removeSentTokens('cli', by);
      const { account, session: opener } = found;
      const opened = await openSession(accounts, rows, account, { rememberMe: false, via: opener.via }, from);
      const details = { account_id: account.id, method: 'cli', opened_by: by, session_id: opened.session.id };
      await audit('LoginSucceeded', { actor: personOf(account), from }, details);
      return opened;
    },
  );
  return grantFor(accounts, open);
}

function hashOf({ access }: Accounts, code: string, challenge: string): string {
  return access.sha256(`${code}:${challenge}`);
}
