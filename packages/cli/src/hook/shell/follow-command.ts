import { readOptions } from './options-of-command.ts';
import type { Word } from './word.ts';
import { literal, unknownWord } from './word.ts';
import { interpreters, opaque, otherShells, shells, wrapperRule } from './wrapper-rules.ts';
import type { WrapperRule } from './wrapper-rules.ts';

/** The standard input of a command, if the text itself holds it. */
export type Input = { readonly text: string; readonly isCertain: boolean } | undefined;

/** Who follows what a command runs. */
export interface Follower {
  /** A command runs these words. */
  run(words: readonly Word[], input: Input): void;
  /** A shell reads this text. */
  read(source: string): void;
  /** Something runs that cannot be read. */
  doubt(note: string, args?: readonly string[]): void;
  /** The folder changes. */
  move(operands: readonly Word[] | undefined): void;
}

/** Follows a command to what it runs by itself. */
export function followCommand(name: string, args: readonly Word[], input: Input, follower: Follower): void {
  const rule = wrapperRule(name);
  if (shells.has(name)) followShell(name, args, input, follower);
  else if (name === 'xargs') followXargs(args, follower);
  else if (name === 'env') followEnv(args, input, follower);
  else if (rule !== undefined) followWrapper(name, rule, args, input, follower);
  else if (name === 'find') followFind(args, follower);
  else if (name === 'parallel') followParallel(args, follower);
  else if (name === 'su' || name === 'runuser') followSu(name, args, follower);
  else if (otherShells.has(name)) follower.doubt(`${name} runs a language that is not read here`, [name]);
  else if (interpreters.test(name)) followInterpreter(name, args, follower);
  else followBuiltin(name, args, input, follower);
}

/** A text that a shell reads again. With an expansion in it, it is not the text that the shell gets. */
function readText(word: Word | undefined, follower: Follower): void {
  if (word === undefined) return;
  if (word.unknown) follower.doubt('a shell reads a text that is known only when it runs', [word.text]);
  follower.read(word.text);
}

function followShell(name: string, args: readonly Word[], input: Input, follower: Follower): void {
  let isText = false;
  let fromInput = false;
  let at = 0;
  for (; at < args.length; at++) {
    const word = args[at];
    const text = word?.text ?? '';
    if (text === '--' || text === '-') {
      at++;
      break;
    }
    if (!/^[-+]./.test(text) || word === undefined) break;
    if (word.unknown) follower.doubt(`the option ${text} is known only when it runs`, [name]);
    if (text === '--version' || text === '--help') return;
    if (/^--(?:rcfile|init-file)$/.test(text) || /^[-+][a-zA-Z]*[oO]$/.test(text)) at++;
    if (/^-[a-zA-Z]*c/.test(text)) isText = true;
    if (/^-[a-zA-Z]*s/.test(text)) fromInput = true;
  }
  const operand = args[at];
  if (isText) {
    if (operand === undefined) follower.doubt(`${name} -c without a text`, [name]);
    readText(operand, follower);
  } else if (operand !== undefined && !fromInput && operand.text !== '/dev/stdin') {
    if (operand.unknown || operand.isGlob)
      follower.doubt(`${name} runs a script that is known only when it runs`, [name]);
  } else readInput(name, input, follower);
}

function readInput(name: string, input: Input, follower: Follower): void {
  if (input === undefined || !input.isCertain) follower.doubt(`${name} runs what it reads from its input`, [name]);
  if (input !== undefined) follower.read(input.text);
}

function followWrapper(name: string, rule: WrapperRule, args: readonly Word[], input: Input, follower: Follower): void {
  const { options, operands, doubt } = readOptions(args, rule);
  if (doubt !== undefined) follower.doubt(`${name}: ${doubt}`, [name]);
  for (const option of rule.shellText ?? []) readText(options.get(option), follower);
  const hasText = rule.shellText?.some((option) => options.has(option)) === true;
  if (hasText || rule.unless?.some((option) => options.has(option)) === true) return;
  const rest = operands.slice(rule.before ?? 0);
  const words = rule.takesAssignments === true ? rest.slice(assignmentsIn(rest)) : rest;
  const startsShell =
    rule.startsShell === true || ['s', 'i', 'shell', 'login'].some((option) => name === 'sudo' && options.has(option));
  if (rule.joins === true && !options.has('x') && !options.has('exec')) readJoined(words, follower);
  else if (words.length > 0 && startsShell) readJoined(words, follower);
  else if (words.length > 0) follower.run(words, input);
  else if (startsShell) follower.doubt(`${name} starts a shell`, [name]);
}

function assignmentsIn(words: readonly Word[]): number {
  const at = words.findIndex(({ text }) => !/^[A-Za-z_]\w*=/.test(text));
  return at < 0 ? words.length : at;
}

function readJoined(words: readonly Word[], follower: Follower): void {
  const text = words.map((word) => word.text).join(' ');
  readText({ ...literal(text), unknown: words.some(({ unknown }) => unknown) }, follower);
}

function followEnv(args: readonly Word[], input: Input, follower: Follower): void {
  const rule = wrapperRule('env') ?? {};
  const { options, operands } = readOptions(args, rule);
  const split = options.get('S') ?? options.get('split-string');
  if (split === undefined) return followWrapper('env', rule, args, input, follower);
  if (split.unknown || /[\\$]/.test(split.text))
    follower.doubt('env splits a text that is not read here', [split.text]);
  // What `env -S` splits are words without the operators of a shell.
  const words = split.text.split(/[ \t\n]+/).filter((text) => text !== '');
  const unquoted = words.map((text) => literal(text.replaceAll(/^(['"])(.*)\1$/g, '$2')));
  const all = [...unquoted, ...operands];
  const rest = all.slice(assignmentsIn(all));
  if (rest.length > 0) follower.run(rest, input);
}

function followXargs(args: readonly Word[], follower: Follower): void {
  const { options, operands, doubt } = readOptions(args, wrapperRule('xargs') ?? {});
  if (doubt !== undefined) follower.doubt(`xargs: ${doubt}`, ['xargs']);
  if (operands.length === 0) return;
  const marks = [
    options.get('I')?.text,
    options.get('replace')?.text,
    options.has('i') || options.has('replace') ? '{}' : undefined,
  ];
  const replaced = marks.filter((mark) => mark !== undefined && mark !== '');
  const words = operands.map((word) =>
    replaced.some((mark) => word.text.includes(mark ?? '')) ? unknownWord(word) : word,
  );
  // Without a mark, what is read comes after the words that are there.
  const read: Word = { ...unknownWord(literal('')), isHidden: true };
  follower.run(replaced.length > 0 ? words : [...words, read], undefined);
}

function followFind(args: readonly Word[], follower: Follower): void {
  for (let at = 0; at < args.length; at++) {
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(args[at]?.text ?? '')) continue;
    const end = args.findIndex(
      ({ text }, index) => index > at && (text === ';' || (text === '+' && args[index - 1]?.text === '{}')),
    );
    const words = args.slice(at + 1, end < 0 ? undefined : end);
    if (words.length > 0)
      follower.run(
        words.map((word) => (word.text.includes('{}') ? unknownWord(word) : word)),
        undefined,
      );
    at += words.length;
  }
}

function followParallel(args: readonly Word[], follower: Follower): void {
  const rule = {
    flags: 'kmXq0tuv',
    valued: 'jnNIaLPdS',
    longFlags: ['keep-order', 'dry-run', 'bar', 'progress', 'will-cite', 'xargs', 'null', 'group'],
    longValued: ['jobs', 'max-args', 'arg-file', 'delay', 'timeout', 'retries', 'halt', 'joblog', 'colsep', 'results'],
  };
  const { operands, doubt } = readOptions(args, rule);
  if (doubt !== undefined) follower.doubt(`parallel: ${doubt}`, ['parallel']);
  const end = operands.findIndex(({ text }) => text.startsWith(':::'));
  const words = operands.slice(0, end < 0 ? undefined : end);
  if (words.length === 0) follower.doubt('parallel runs what it reads', ['parallel']);
  else readJoined(words, follower);
}

function followSu(name: string, args: readonly Word[], follower: Follower): void {
  const at = args.findIndex(({ text }) => /^(?:-[a-z]*c|--command)$/.test(text));
  const [, attached] =
    /^--command=(.*)$/s.exec(args.find(({ text }) => text.startsWith('--command='))?.text ?? '') ?? [];
  if (at >= 0) readText(args[at + 1], follower);
  else if (attached !== undefined) follower.read(attached);
  else follower.doubt(`${name} starts a shell`, [name]);
}

const ownProgram = /^(?:-[a-zA-Z]*[ceEmrpfnF]|-[vVh]|--?version|--?help|--eval|--print|--run|--check|--test.*)$/;

/** An interpreter without a program on its line reads one from its input. */
function followInterpreter(name: string, args: readonly Word[], follower: Follower): void {
  const operand = args.find(({ text }) => !/^-./.test(text));
  const takesInput =
    operand === undefined
      ? !args.some(({ text }) => ownProgram.test(text))
      : /^(?:-|\/dev\/stdin)$/.test(operand.text) && !args.some(({ text }) => ownProgram.test(text));
  if (takesInput)
    follower.doubt(`${name} runs a program that it reads from its input`, [name, ...args.map(({ text }) => text)]);
}

function followBuiltin(name: string, args: readonly Word[], input: Input, follower: Follower): void {
  const [first] = args;
  if (name === 'eval') readJoined(args, follower);
  else if (name === 'trap') {
    const action = args.find(({ text }) => text !== '--' && !/^-[lp]$/.test(text));
    if (args.length > 1) readText(action, follower);
  } else if (name === 'alias') {
    for (const word of args) readText({ ...word, text: word.text.replace(/^[^=]*=?/, '') }, follower);
  } else if (name === 'source' || name === '.') {
    if (first?.text === '/dev/stdin') readInput(name, input, follower);
    else if (first?.unknown === true) follower.doubt(`${name} reads a script that is known only when it runs`, [name]);
  } else if (name === 'cd' || name === 'chdir') follower.move(args.filter(({ text }) => !/^-[LPe@]+$|^--$/.test(text)));
  else if (name === 'pushd' || name === 'popd') follower.move(undefined);
  else if (opaque.has(name) || (name === 'crontab' && first?.text !== '-l'))
    follower.doubt(`${name} runs what is not on this line`, [name]);
  else if (/^(?:mapfile|readarray|hash)$/.test(name) && args.some(({ text }) => /^-[a-z]*[Cp]/.test(text))) {
    follower.doubt(`${name} runs what is not on this line`, [name]);
  }
}
