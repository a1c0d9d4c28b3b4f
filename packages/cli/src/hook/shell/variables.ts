import type { Assignment } from './found-command.ts';
import type { Word } from './word.ts';

/** A value that arithmetic takes as a number, whatever else is on the line. */
const number = /^(?:[-+]?\d*|\$[#?$!]|\$\{#\w+\}|\$\(\([-\w\s+*/%<>=!&|^~?:,$]*\)\))$/;

/** Variables that evaluate what they are given as arithmetic. */
const evaluating = ['RANDOM', 'SRANDOM', 'SECONDS', 'HISTCMD', 'LINENO', 'OPTIND'];

/** Variables that the shell itself gives texts that others choose. */
const given =
  '_ REPLY MAPFILE OPTARG COPROC PWD OLDPWD DIRSTACK BASH_REMATCH BASH_COMMAND BASH_EXECUTION_STRING BASH_ARGV BASH_ARGV0 BASH_SOURCE FUNCNAME'.split(
    ' ',
  );

/** Variables that are arrays by themselves. */
const arrays =
  'MAPFILE COPROC DIRSTACK BASH_REMATCH BASH_ARGV BASH_ARGC BASH_SOURCE BASH_LINENO FUNCNAME GROUPS PIPESTATUS BASH_VERSINFO COMPREPLY'.split(
    ' ',
  );

/**
 * bash evaluates the text of a variable that arithmetic names, and runs what is in its subscripts. So a name is understood
 * there only if the whole text gives it nothing but numbers.
 */
export class Variables {
  readonly #open = new Set<string>(given);
  readonly #evaluated = new Set<string>(evaluating);
  readonly #assigned: Assignment[] = [];
  readonly #arrays = new Set<string>(arrays);
  readonly #declared = new Set<string>();
  readonly #exported = new Set<string>();
  #hasNumbers = false;
  #isUnsettled = false;
  #exportsAll = false;

  assign(name: string, value: Word | undefined): void {
    this.#assigned.push({ name, value });
    if (value?.isNumber === true) this.count();
    else if (value === undefined || !number.test(value.text)) this.#open.add(name);
  }

  array(name: string): void {
    this.#arrays.add(name);
  }

  declare(name: string): void {
    this.#declared.add(name);
  }

  /** An array whose elements a builtin reads in a text that may be any. */
  get readAgain(): string | undefined {
    return [...this.#declared].find((name) => this.#arrays.has(name));
  }

  evaluate(name: string): void {
    this.#evaluated.add(name);
  }

  /** A value is what a program prints that prints numbers alone. */
  count(): void {
    this.#hasNumbers = true;
  }

  /** Something else may print in the place of a program. */
  unsettle(): void {
    this.#isUnsettled = true;
  }

  /** Programs get what is in the variable. Without a name: in all of them. */
  export(name: string | undefined): void {
    if (name === undefined) this.#exportsAll = true;
    else this.#exported.add(name);
  }

  /** What the text gives to variables that programs get by their names alone. */
  get exported(): readonly Assignment[] {
    return this.#assigned.filter(({ name }) => this.#exportsAll || this.#exported.has(name));
  }

  /** A name that is evaluated, and may hold anything. */
  get unsafe(): string | undefined {
    if (this.#hasNumbers && this.#isUnsettled) return 'what a function or a trap prints';
    return [...this.#evaluated].find((name) => this.#open.has(name));
  }
}
