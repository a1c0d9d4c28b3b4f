import type { ReeveError } from '../kernel/errors.ts';
import type { AccountRows } from './account-store.ts';
import type { Accounts } from './accounts.ts';
import type { Note, NoteBy } from './change-accounts.ts';
import { afterFailure, locked, lockedForMs } from './lockout.ts';

/** For how long the passwords under an email are not looked at any more; 0 where they are. */
export async function isLocked({ access, settings }: Accounts, rows: AccountRows, emailHash: string): Promise<number> {
  return lockedForMs(await rows.attempts(emailHash), settings, access.clock.now());
}

/** An attempt during a lock is on record, and does not extend it. */
export async function refuseLocked(
  note: Note,
  { actor, from }: NoteBy,
  emailHash: string,
  lockedMs: number,
): Promise<ReeveError> {
  await note('LoginFailed', { actor, from, reason: 'locked' }, { email_hash: emailHash });
  return locked(lockedMs);
}

/** Counts a wrong password, wherever it was given; so many in a row lock the email. */
export async function countFailure(
  { access, settings }: Accounts,
  rows: AccountRows,
  note: Note,
  about: { readonly emailHash: string; readonly accountId: string | null; readonly by: NoteBy },
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
  await note('LoginFailed', by, details);
  if (nowLocked) await note('AccountLocked', { actor: by.actor, from: by.from }, details);
}
