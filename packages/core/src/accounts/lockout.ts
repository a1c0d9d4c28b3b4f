import type { AccountRows } from './account-store.ts';
import type { Attempts } from './account.ts';
import type { AccountSettings, Accounts } from './accounts.ts';
import type { Note, NoteBy } from './change-accounts.ts';
import type { EpochMs } from '../kernel/clock.ts';
import { ReeveError } from '../kernel/errors.ts';

type Rules = Pick<AccountSettings, 'lockoutAttempts' | 'lockoutMs'>;

/**
 * For how long a lock still holds; 0 where there is none. A lock that would last longer than any can was set before the
 * clock was put back: it holds no more, lest nobody could log in until the clock has caught up.
 */
export function lockedForMs(attempts: Attempts | undefined, rules: Rules, now: EpochMs): number {
  const remaining = (attempts?.lockedUntil ?? now) - now;
  return remaining > 0 && remaining <= rules.lockoutMs ? remaining : 0;
}

/** The attempts after one more has failed. The end of a lock clears the count. */
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
