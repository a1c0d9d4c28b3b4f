import { ReeveError } from '../kernel/errors.ts';
import { isCommonPassword, repeatedUnit } from './common-passwords.ts';

const shortestPassword = 12;
export const longestPassword = 256;

/**
 * The longest way to write the longest password: a character is composed of at most four code points, and each takes at
 * most two places in a string.
 */
const longestSpelling = longestPassword * 4 * 2;

/** Whose password it is to be. */
interface About {
  readonly email?: string;
  readonly name?: string;
}

const tooLong = `must have at most ${longestPassword} characters`;
const advice = 'take one that is yours alone, such as four or five unrelated words';

/**
 * The form in which a password is counted and hashed: composed (NFC), so that one keyboard's é and another's e with an
 * accent log in alike. Compatible characters stay apart (no NFKC), as RFC 8265 has it for passwords. What is too long in
 * any spelling stays as it is: composing long runs of accents takes time with their square.
 */
export function normalisePassword(password: string): string {
  return password.length > longestSpelling ? password : password.normalize('NFC');
}

/**
 * Throws `weak_password` unless this may become somebody's password. Characters are code points of the normalised form:
 * an emoji is one, or several where it is joined of several; an accent is part of its letter where Unicode has both in
 * one, and counts by itself where not.
 */
export function checkNewPassword(password: string, about: About): void {
  if (!password.isWellFormed()) throw weak('holds half of a character (a lone surrogate); send whole characters');
  const form = normalisePassword(password);
  if (form.length > 2 * longestPassword) throw weak(tooLong);
  const length = Array.from(form).length;
  if (length < shortestPassword)
    throw weak(`must have at least ${shortestPassword} characters; this one has ${length}`);
  if (length > longestPassword) throw weak(tooLong);
  if (isCommonPassword(form)) throw weak(`is among the first that anyone would try; ${advice}`);
  if (isAbout(form, about)) throw weak(`must not be your email or your name, nor either repeated; ${advice}`);
}

/** Whether the password is the email, the part of it before the @, or the name: once or again and again. */
function isAbout(password: string, { email = '', name = '' }: About): boolean {
  const unit = repeatedUnit(password.toLowerCase());
  return [email, email.slice(0, email.lastIndexOf('@')), name, name.replaceAll(' ', '')]
    .map((text) => normalisePassword(text).toLowerCase())
    .some((text) => text !== '' && text.length <= password.length && repeatedUnit(text) === unit);
}

function weak(problem: string): ReeveError {
  return new ReeveError('weak_password', `password: ${problem}`, { field: 'password' });
}
