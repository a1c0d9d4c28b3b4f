import { ReeveError } from '../kernel/index.ts';

/** In composed characters. */
export const passwordBounds = { least: 12, most: 256 } as const;

/**
 * The longest spelling of the longest password. A character is composed of at most four code points, and each takes at
 * most two places in a string.
 */
const longestSpelling = passwordBounds.most * 4 * 2;

/** The person whose password it will be. */
interface About {
  readonly email?: string;
  readonly name?: string;
}

const tooLong = `must have at most ${passwordBounds.most} characters`;
const advice = 'take one that is yours alone, such as four or five unrelated words';

/**
 * The form in which a password is counted and hashed. It is composed (NFC), so that one keyboard's é and another's e
 * with an accent log in alike. Compatible characters stay apart (no NFKC), as RFC 8265 says for passwords. A password
 * that is too long in any spelling stays as it is: composing long runs of accents takes quadratic time.
 */
export function normalisePassword(password: string): string {
  return password.length > longestSpelling ? password : password.normalize('NFC');
}

/**
 * Throws `weak_password` unless this may become somebody's password. Characters are code points of the normalised form.
 * An emoji counts as one, or as several if it is joined of several. An accent counts by itself only if Unicode has no
 * single code point for it and its letter.
 */
export function checkNewPassword(password: string, about: About): void {
  if (!password.isWellFormed()) throw weak('holds half of a character (a lone surrogate); send whole characters');
  const form = normalisePassword(password);
  if (form.length > 2 * passwordBounds.most) throw weak(tooLong);
  const length = Array.from(form).length;
  if (length < passwordBounds.least)
    throw weak(`must have at least ${passwordBounds.least} characters; this one has ${length}`);
  if (length > passwordBounds.most) throw weak(tooLong);
  if (isCommonPassword(form)) throw weak(`is among the first that anyone would try; ${advice}`);
  if (isAbout(form, about)) throw weak(`must not be your email or your name, nor either repeated; ${advice}`);
}

/** Whether the password is the email, the part of it before the @, or the name: once or repeated. */
function isAbout(password: string, { email = '', name = '' }: About): boolean {
  const unit = repeatedUnit(password.toLowerCase());
  return [email, email.slice(0, email.lastIndexOf('@')), name, name.replaceAll(' ', '')]
    .map((text) => normalisePassword(text).toLowerCase())
    .some((text) => text !== '' && text.length <= password.length && repeatedUnit(text) === unit);
}

function weak(problem: string): ReeveError {
  return new ReeveError('weak_password', `password: ${problem}`, { field: 'password' });
}

/** Lists of stolen passwords hold hardly any longer ones. */
const longestCommon = 32;

/** The words that people start from. Only whole passwords are compared: other additions make another password. */
const bases = [
  ...[
    'password',
    'passwort',
    'passwd',
    'pass',
    'mypassword',
    'thisismypassword',
    'letmein',
    'login',
    'access',
    'trustno',
  ],
  ...[
    'admin',
    'administrator',
    'root',
    'superuser',
    'guest',
    'default',
    'changeme',
    'temp',
    'welcome',
    'hello',
    'reeve',
  ],
  ...[
    'iloveyou',
    'iloveyousomuch',
    'iloveyouforever',
    'princess',
    'sunshine',
    'whatever',
    'master',
    'shadow',
    'freedom',
  ],
  ...['dragon', 'monkey', 'superman', 'batman', 'starwars', 'pokemon', 'minecraft', 'matrix', 'ninja', 'computer'],
  ...['football', 'baseball', 'basketball', 'soccer', 'liverpool', 'chelsea', 'arsenal', 'barcelona', 'internet'],
  ...[
    'spring',
    'summer',
    'autumn',
    'winter',
    'january',
    'december',
    'michael',
    'jordan',
    'charlie',
    'samsung',
    'google',
  ],
];

const disguises: Readonly<Record<string, string>> = {
  a: '4@',
  b: '8',
  e: '3',
  g: '9',
  i: '1!|',
  l: '1|',
  o: '0',
  s: '5$',
  t: '7+',
};

const disguisedBase = new RegExp(
  `^(?:${bases.map((base) => base.replaceAll(/./g, (letter) => `[${letter}${disguises[letter] ?? ''}]`)).join('|')})$`,
);

/** The sequences that fingers and counting follow: forwards, backwards, and around from the end to the start. */
const walks = [
  '0123456789',
  'qwertyuiopasdfghjklzxcvbnm',
  'qwertzuiopasdfghjklyxcvbnm',
  'azertyuiopqsdfghjklmwxcvbn',
  'qazwsxedcrfvtgbyhnujmikolp',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p',
  '1q2w3e4r5t6y7u8i9o0p',
  'q1w2e3r4t5y6u7i8o9p0',
  '!@#$%^&*()_+',
]
  .flatMap((walk) => [walk, walk.split('').reverse().join('')])
  .map((walk) => walk.repeat(Math.ceil(longestCommon / walk.length) + 1));

/** What people append to satisfy a rule: a year, a count, a repeated digit, and a few signs. */
const tail = /^[@#_]?(?<digits>\d*)[!.?*#$@]{0,3}$/;

/**
 * Whether a password is among the first to be tried: a walk over the keyboard or the digits, one digit or a common word
 * repeated, or a common word with a usual tail. Capitals and the usual disguises change nothing.
 */
export function isCommonPassword(password: string): boolean {
  const word = password.toLowerCase();
  if (word.length > longestCommon) return false;
  const unit = repeatedUnit(word);
  if (unit.length === 1 ? /\d/.test(unit) : isWalk(unit)) return true;
  for (let at = 3; at <= unit.length; at++) {
    const head = unit.slice(0, at);
    if ((disguisedBase.test(head) || isWalk(head)) && isUsualTail(unit.slice(at))) return true;
  }
  return false;
}

/** The shortest text whose repetition makes up `word`. Often it is `word` itself. */
export function repeatedUnit(word: string): string {
  return word.slice(0, (word + word).indexOf(word, 1));
}

function isWalk(text: string): boolean {
  return walks.some((walk) => walk.includes(text));
}

function isUsualTail(text: string): boolean {
  const digits = tail.exec(text)?.groups?.['digits'];
  if (digits === undefined) return false;
  return digits.length < 3 || /^(?:19|20)\d\d$/.test(digits) || repeatedUnit(digits).length === 1 || isWalk(digits);
}
