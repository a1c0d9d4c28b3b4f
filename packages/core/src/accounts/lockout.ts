import type { EpochMs } from '../kernel/clock.ts';
import { ReeveError } from '../kernel/errors.ts';
import type { Attempts } from './account.ts';
import type { AccountSettings } from './accounts.ts';

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
