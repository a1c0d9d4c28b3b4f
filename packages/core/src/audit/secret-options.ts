/** A set of programs that take a password by an option which does not say so: one bit for each. */
export type Programs = number;

interface Rule {
  readonly program: Programs;
  readonly name: string;
  /** The option up to its value. Letters that take no value may stand before that of the option: `-sSu`. */
  readonly option: RegExp;
}

const curl: Programs = 1;
const mysql: Programs = 2;
const sshpass: Programs = 4;

/** Those that hide a value whole come first. */
const rules: readonly Rule[] = [
  { program: sshpass, name: 'sshpass', option: /^-[ehvV]*p/ },
  { program: mysql, name: 'mysql', option: /^-[ABCEGHINTVXbfilnoqrstvw]*p/ },
  { program: mysql, name: 'mariadb', option: /^-[ABCEGHINTVXbfilnoqrstvw]*p/ },
  { program: curl, name: 'curl', option: /^(?:-[afgijklnpqsvBGIJLMNORSVZ0-9#:]*[uU]|--(?:proxy-)?user(?:=|$))/ },
];

/** The last word of a path, or behind what a shell or make may put before it: `@curl`, `-curl`, `{curl`, `X=curl`. */
const programName = /(?:^[-@+]*|[^\w.-])(curl|mysql|mariadb|sshpass)[\w-]*(?:\.exe)?$/i;

/** The programs that a word calls. */
export function programsIn(word: string): Programs {
  const name = programName.exec(word)?.[1]?.toLowerCase();
  return rules.find((rule) => rule.name === name)?.program ?? 0;
}

/** A cheap look before the careful one. */
export const mayHoldCommand = /curl|mysql|mariadb|sshpass/i;

/** An option of some of the programs, and where in the word its value begins. */
export interface SecretOption {
  readonly programs: Programs;
  readonly valueAt: number;
}

/** A shell takes `\-u` for `-u`. Of two programs that read a word in different ways, the one that hides more is believed. */
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

/** Of mysql, what comes after a blank is a database. */
export function awaitingValue(programs: Programs): Programs {
  return programs & ~mysql;
}

/** Those that take nothing more behind the value. What follows that of sshpass is the command that it runs. */
export function doneBy(programs: Programs): Programs {
  return programs & sshpass;
}

/** Where in a value its secret begins. Of curl it is what follows the user; one without a colon holds none. */
export function secretAt(value: string, of: Programs): number {
  if (of !== curl) return 0;
  const colon = value.indexOf(':');
  if (colon >= 0) return /^[\\"']*$/.test(value.slice(colon + 1)) ? value.length : colon + 1;
  // Blanks are those of a substitution, in which another command may hold a password.
  return /\s/.test(value) ? 0 : value.length;
}

/** What stands in the place of a secret. */
export const redacted = '[redacted]';
