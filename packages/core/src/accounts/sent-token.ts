import { ReeveError } from '../kernel/errors.ts';
import type { SentToken } from './account.ts';
import type { AccountRows } from './account-store.ts';
import type { Accounts } from './accounts.ts';

const prefixes = { invite: 'rvi_', reset: 'rvp_' } as const;

/** Makes a token for someone to come back with, and keeps its hash. */
export async function sendableToken(
  { access }: Accounts,
  rows: AccountRows,
  about: Omit<SentToken, 'hash'>,
): Promise<string> {
  const token = `${prefixes[about.purpose]}${access.randomness.base64url(32)}`;
  await rows.saveSentToken({ ...about, hash: access.sha256(token) });
  return token;
}

/** What a token opens, if it opens anything now. */
export async function openedBy(
  { access }: Accounts,
  rows: AccountRows,
  purpose: SentToken['purpose'],
  token: string,
): Promise<SentToken | undefined> {
  const sent = await rows.sentToken(access.sha256(token));
  return sent?.purpose === purpose && access.clock.now() < sent.expiresAt ? sent : undefined;
}

/** One answer for every token that opens nothing: wrong, used, expired or of another kind. */
export function invalidToken(): ReeveError {
  return new ReeveError('invalid_token', 'the token is wrong, used or expired; ask for a new one');
}
