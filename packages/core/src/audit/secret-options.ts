/** A set of programs with a password option whose name does not say so. Each program is one bit. */
export type Programs = number;

interface Rule {
  readonly program: Programs;
  readonly name: string;
  /** Matches the option up to its value. Flags without a value may come before it: `-sSu`. */
  readonly option: RegExp;
}

const curl: Programs = 1;
const mysql: Programs = 2;
const sshpass: Programs = 4;

/** Rules that hide a whole value come first. */
const rules: readonly Rule[] = [
  { program: sshpass, name: 'sshpass', option: /^-[ehvV]*p/ },
  { program: mysql, name: 'mysql', option: /^-[ABCEGHINTVXbfilnoqrstvw]*p/ },
  { program: mysql, name: 'mariadb', option: /^-[ABCEGHINTVXbfilnoqrstvw]*p/ },
  { program: curl, name: 'curl', option: /^(?:-[afgijklnpqsvBGIJLMNORSVZ0-9#:]*[uU]|--(?:proxy-)?user(?:=|$))/ },
];

/** The last word of a path, or a word after what a shell or make may put first: `@curl`, `-curl`, `{curl`, `X=curl`. */
const programName = /(?:^[-@+]*|[^\w.-])(curl|mysql|mariadb|sshpass)[\w-]*(?:\.exe)?$/i;

/** The programs that a word calls. */
export function programsIn(word: string): Programs {
  const name = programName.exec(word)?.[1]?.toLowerCase();
  return rules.find((rule) => rule.name === name)?.program ?? 0;
}

/** A cheap check before the careful one. */
export const mayHoldCommand = /curl|mysql|mariadb|sshpass/i;

/** An option of some of the programs, and where in the word its value begins. */
export interface SecretOption {
  readonly programs: Programs;
  readonly valueAt: number;
}

/**
 * Finds the option in a word. A shell reads `\-u` as `-u`. If two programs read a word differently, the one that hides
 * more wins.
 */
export function optionIn(word: string, among: Programs): SecretOption | undefined {
  const escapes = /^\\*(?=-)/.exec(word)?.[0].length;
  if (among === 0 || escapes === undefined) return undefined;
  const option = word.slice(escapes);
  let programs: Programs = 0;
  for (const rule of rules) {
    const lead = (among & rule.program) === 0 ? undefined : rule.option.exec(option)?.[0];
    if (lead === undefined) continue;
    if (lead.length < option.length) return { programs: rule.program, valueAt: escapes + lead.length };
    programs |= rule.program;
  }
  return programs === 0 ? undefined : { programs, valueAt: word.length };
}

/** Programs whose value may follow after a blank. For mysql, a database does. */
export function awaitingValue(programs: Programs): Programs {
  return programs & ~mysql;
}

/** Programs that are done after the value. What follows the value of sshpass is the command that it runs. */
export function doneBy(programs: Programs): Programs {
  return programs & sshpass;
}

/** Where the secret in a value begins. For curl it follows the user and a colon. A value without a colon holds none. */
export function secretAt(value: string, of: Programs): number {
  if (of !== curl) return 0;
  const colon = value.indexOf(':');
  if (colon >= 0) return /^[\\"']*$/.test(value.slice(colon + 1)) ? value.length : colon + 1;
  // Blanks mean a substitution, in which another command may hold a password.
  return /\s/.test(value) ? 0 : value.length;
}

/** The text that replaces a secret. */
export const redacted = '[redacted]';
