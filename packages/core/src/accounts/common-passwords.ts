/** Lists of stolen passwords hold hardly any that is longer. */
const longestCommon = 32;

/** What people start from. Anything else in a password makes it another one: only whole passwords are compared. */
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

/** What fingers and counting run along, forwards and backwards, and from the end to the start again. */
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

/** What is put behind to satisfy a rule: a year, a count, the same digit a few times; and a sign or two. */
const tail = /^[@#_]?(?<digits>\d*)[!.?*#$@]{0,3}$/;

/**
 * Whether a password is among those that are tried first: a walk over the keyboard or along the digits, one digit or a
 * common word again and again, or a common word with the usual tail. Capitals and the usual disguises change nothing.
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

/** The shortest text that makes up `word` when it is repeated: often `word` itself. */
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
