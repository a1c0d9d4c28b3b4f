import type { Follower } from './follower.ts';
import { namesInArithmetic } from './arithmetic.ts';
import type { Dialect } from './shell-text.ts';
import { Unreadable } from './shell-text.ts';
import type { Word } from './word.ts';

/** What a builtin does to variables. */
export interface Effects extends Follower {
  readonly dialect: Dialect;
  /** A variable gets a value. Undefined if it is known only when it runs. */
  assign(name: string, value: Word | undefined): void;
  /** A variable may be an array. */
  array(name: string): void;
  /** A builtin gives a variable a text that is known only when it runs. Of an array, bash reads that text again. */
  declare(name: string): void;
  /** Programs get a variable, or all of them. */
  exportNamed(name: string | undefined): void;
  /** Arithmetic evaluates what is in a variable. */
  evaluate(name: string): void;
  /** The same for what a program prints that prints numbers alone. */
  count(): void;
  /** What a program prints may be what something else does. */
  unsettle(): void;
}

type Check = (args: readonly Word[], effects: Effects, isDirect: boolean) => string | undefined;

const name = /^[A-Za-z_]\w*(?:\[\d+\])?$/;

/**
 * Builtins that give values to variables, or that evaluate names. bash runs what is in the subscript of a name, so names are
 * understood only if they stand in the text. Gives the reason for a doubt.
 */
export function checkBuiltin(command: string, args: readonly Word[], effects: Effects, isDirect: boolean): void {
  const check = Object.hasOwn(checks, command) ? checks[command] : undefined;
  const why = check?.(args, effects, isDirect);
  if (why !== undefined) effects.doubt(`${command}: ${why}`, [command, ...args.map(({ text }) => text)]);
}

const checks: Readonly<Record<string, Check>> = {
  trap: (_, effects) => {
    effects.unsettle();
    return undefined;
  },
  export: (args, effects, isDirect) => checkDeclaration(args, effects, isDirect, true),
  readonly: checkDeclaration,
  declare: checkDeclaration,
  typeset: checkDeclaration,
  local: checkDeclaration,
  let: checkLet,
  read: checkNames(/^-[aprsetdnNui]*[pdnNtui]$/, /^-\w*a/),
  mapfile: checkNames(/^-\w*[dnOsuCc]$/, /^/),
  readarray: checkNames(/^-\w*[dnOsuCc]$/, /^/),
  getopts: (args, effects, isDirect) => checkNames()(args.slice(1, 2), effects, isDirect),
  unset: checkNames(),
  printf: checkPrintf,
  wait: (args) => (args.some(({ text, unknown }) => unknown || /^-(?![fn]+$)/.test(text)) ? 'its options' : undefined),
  jobs: (args) => (args.some(({ text, isMany }) => isMany || /^-\w*x/.test(text)) ? 'it may run a command' : undefined),
  test: checkTest,
  '[': (args, effects) => checkTest(args.slice(0, -1), effects),
  set: checkSet,
  shopt: checkShopt,
};

/** `name` and `name=value`. Without a shell that knows the word in front, a value may be split into more of them. */
function checkDeclaration(
  args: readonly Word[],
  effects: Effects,
  isDirect: boolean,
  isExport = args.some(({ text }) => /^-\w*x/.test(text)),
): string | undefined {
  const mayBeSplit = !isDirect || effects.dialect === 'posix';
  const isArray = args.some(({ text }) => /^[-+]\w*[aA]/.test(text));
  for (const word of args) {
    const [, assigned] = /^([A-Za-z_]\w*)=/.exec(word.text) ?? [];
    if (assigned !== undefined) {
      const value = { ...word, text: word.text.slice(assigned.length + 1) };
      if (isExport) effects.export(assigned, value, []);
      else effects.assign(assigned, value);
      if (value.text.startsWith('(')) return 'a value that is read again';
      if (isArray) effects.array(assigned);
      if (value.unknown) effects.declare(assigned);
      if (word.isMany && mayBeSplit) return 'a value may become several words';
    } else if (word.unknown || word.isGlob) return 'a name that is known only when it runs';
    else if (!/^(?:[-+][aAgrxlupfFt]+|--|[A-Za-z_]\w*)$/.test(word.text)) return 'more than names and values';
    else if (!/^[-+]/.test(word.text)) {
      if (isExport) effects.exportNamed(word.text);
      if (isArray) effects.array(word.text);
    }
  }
  return undefined;
}

function checkLet(args: readonly Word[], effects: Effects): string | undefined {
  try {
    for (const { text, unknown } of args) {
      if (unknown) return 'what it evaluates is known only when it runs';
      for (const each of namesInArithmetic(text)) effects.evaluate(each);
    }
    return undefined;
  } catch (error) {
    if (error instanceof Unreadable) return error.message;
    throw error;
  }
}

/** Options, of which some take the next word, and names. */
function checkNames(valued?: RegExp, array?: RegExp): Check {
  return (args, effects) => {
    let isValue = false;
    const isArray = args.some(({ text }) => array?.test(text) === true);
    for (const word of args) {
      const wasValue = isValue;
      isValue = false;
      if (wasValue && !word.isMany && !word.isGlob) continue;
      if (word.unknown || word.isGlob) return 'a name that is known only when it runs';
      if (word.text.startsWith('-')) {
        if (!/^-\w*$/.test(word.text)) return 'its options';
        isValue = valued?.test(word.text) === true;
      } else if (name.test(word.text)) {
        const base = word.text.replace(/\[.*/s, '');
        effects.assign(base, undefined);
        if (isArray || base !== word.text) effects.array(base);
      } else return 'a name that may run what is in it';
    }
    return undefined;
  };
}

function checkPrintf(args: readonly Word[], effects: Effects, isDirect: boolean): string | undefined {
  const [first, second] = args;
  if (first === undefined) return undefined;
  if (first.unknown && (first.isMany || second !== undefined)) return 'its format is known only when it runs';
  if (!/^-\w*v/.test(first.text)) return undefined;
  return first.text === '-v' ? checkNames()(second === undefined ? [] : [second], effects, isDirect) : 'its options';
}

const unary = /^-[abcdefghknoprstuwxzLOSGN]$/;
const binary = /^(?:==?|!=|<|>|-(?:eq|ne|lt|le|gt|ge|nt|ot|ef))$/;

/** Tests whose operators stand in the text. One of them, `-v`, evaluates a name. */
function checkTest(args: readonly Word[], effects: Effects): string | undefined {
  for (const { text, isMany, isGlob, isNumber } of args) {
    if (isNumber === true) {
      effects.count();
      continue;
    }
    const [, variable] = /^\$\{?([A-Za-z_]\w*)\}?$/.exec(text) ?? [];
    if (isMany && variable !== undefined) effects.evaluate(variable);
    else if ((isMany && !/^(?:\$[#?$]|\$\{#\w+\}|\$\(\([-\w\s+*/%$]*\)\))$/.test(text)) || isGlob)
      return 'a word that may become several ones';
  }
  const parts: Word[][] = [[]];
  for (const word of args) {
    if (!word.unknown && /^-[ao]$/.test(word.text) && parts.at(-1)?.length !== 0) parts.push([]);
    else if (word.unknown || word.text !== '!' || parts.at(-1)?.length !== 0) parts.at(-1)?.push(word);
  }
  const isPlain = ([one, two, three, ...more]: readonly Word[]) => {
    if (more.length > 0 || (three !== undefined && !isOperator(two, binary))) return false;
    return two === undefined || three !== undefined || isOperator(one, unary);
  };
  return parts.every(isPlain) ? undefined : 'an operator that is not understood';
}

function isOperator(word: Word | undefined, operators: RegExp): boolean {
  return word !== undefined && !word.unknown && operators.test(word.text);
}

const settings = /^(?:[-+][aeufxvbhmCET]*o?|--|errexit|nounset|pipefail|xtrace|noglob|noclobber|verbose)$/;

/** What comes after `--` are words. */
function checkSet(args: readonly Word[], effects: Effects): string | undefined {
  const end = args.findIndex(({ text }) => text === '--');
  const options = end < 0 ? args : args.slice(0, end);
  if (options.some(({ text }) => /^-\w*a/.test(text))) effects.exportNamed(undefined);
  return options.every(({ text, unknown }) => !unknown && settings.test(text)) ? undefined : 'its options';
}

/** Not those that let patterns stand for more files. */
const shellOptions = /^(?:-[su]|nullglob|globstar|failglob|nocasematch|inherit_errexit|lastpipe)$/;

function checkShopt(args: readonly Word[]): string | undefined {
  return args.every(({ text, unknown }) => !unknown && shellOptions.test(text)) ? undefined : 'its options';
}
