import { emailKeyOf, plainEmail } from '../access/index.ts';
import type { AccountRows } from './account-store.ts';
import type { SentToken } from './account.ts';
import type { Accounts } from './accounts.ts';
import { invalid, ReeveError } from '../kernel/index.ts';

export interface Email {
  /** As given, in composed form (NFC). */
  readonly text: string;
  /** Emails are compared by this key. It ignores case and how characters are composed. */
  readonly key: string;
}

const longest = 254;
/** No invisible characters: an address must not look like that of somebody else. */
const localPart = /^[^\s@"(),:;<>[\\\]\p{Cc}\p{Cf}\p{Cs}]{1,64}$/u;
const label = /^(?!-)[\p{L}\p{N}\p{M}-]{1,63}(?<!-)$/u;

/** Parses a deliverable address; undefined if it is none. Quoted local parts and addresses in brackets are rejected. */
export function parseEmail(given: string): Email | undefined {
  const text = given.trim().normalize('NFC');
  const at = text.lastIndexOf('@');
  if (text.length > longest || at < 1) return undefined;
  const domain = text.slice(at + 1).split('.');
  if (!localPart.test(text.slice(0, at)) || !domain.every((part) => label.test(part))) return undefined;
  return { text, key: emailKeyOf(text) };
}

/**
 * Whether two texts are one address for certain. Others may compare alike, as `K` and the sign for kelvin do, and yet
 * be mailboxes of two people.
 */
export function isSameAddress(a: string, b: string): boolean {
  return plainEmail(a) === plainEmail(b);
}

export function requireEmail(given: string): Email {
  const email = parseEmail(given);
  if (email === undefined) throw invalid('email', 'must be an email address such as name@example.com');
  return email;
}

const prefixes = { invite: 'rvi_', reset: 'rvp_' } as const;

/** Makes a token that its recipient comes back with, and stores its hash. */
export async function sendableToken(
  { access }: Accounts,
  rows: AccountRows,
  about: Omit<SentToken, 'hash'> & { readonly purpose: keyof typeof prefixes },
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
