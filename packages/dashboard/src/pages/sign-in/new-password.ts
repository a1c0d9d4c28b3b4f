const shortest = 12;
const longest = 256;

/** The owner of the password, as far as the page knows. */
export interface About {
  readonly email?: string;
  readonly name?: string;
}

export interface PasswordRule {
  readonly text: string;
  readonly isMet: boolean;
}

/** The gateway's rules that can be checked while somebody types. Only the gateway knows the common passwords. */
export function passwordRules(password: string, about: About = {}): PasswordRule[] {
  const form = password.normalize('NFC');
  const length = Array.from(form).length;
  const rules = [
    { text: `At least ${shortest} characters${length === 0 ? '' : ` (${length} so far)`}`, isMet: length >= shortest },
  ];
  if (length > longest) rules.push({ text: `At most ${longest} characters (${length} now)`, isMet: false });
  if (isAbout(form, about)) rules.push({ text: 'Neither your email nor your name', isMet: false });
  return rules;
}

/** The fault of a password before the gateway is asked. Undefined if none is visible. */
export function passwordFault(password: string, about: About = {}): string | undefined {
  const broken = passwordRules(password, about).find(({ isMet }) => !isMet);
  return broken === undefined ? undefined : `The password does not do yet: ${broken.text.toLowerCase()}.`;
}

/** Whether the password is the email, its part before the @, or the name, once or repeated. */
function isAbout(password: string, { email = '', name = '' }: About): boolean {
  const unit = repeatedUnit(password.toLowerCase());
  return [email, email.slice(0, Math.max(0, email.lastIndexOf('@'))), name, name.replaceAll(' ', '')]
    .map((text) => text.trim().normalize('NFC').toLowerCase())
    .some((text) => text !== '' && text.length <= password.length && repeatedUnit(text) === unit);
}

function repeatedUnit(word: string): string {
  return word.slice(0, (word + word).indexOf(word, 1));
}
