import { followCarrier } from './follow-carrier.ts';
import type { Follower, Input } from './follower.ts';
import { readJoined, readText } from './follower.ts';
import { followShell, isOtherInput, readInput } from './follow-shell.ts';
import type { ReadOptions } from './options-of-command.ts';
import { readOptions } from './options-of-command.ts';
import type { Word } from './word.ts';
import { literal, unknownWord } from './word.ts';
import { opaque, otherShells, shells, wrapperRule } from './wrapper-rules.ts';
import type { WrapperRule } from './wrapper-rules.ts';

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
  else if (!followBuiltin(name, args, input, follower)) followCarrier(name, args, input, follower);
}

function followWrapper(name: string, rule: WrapperRule, args: readonly Word[], input: Input, follower: Follower): void {
  const { options, operands, doubt } = readOptions(args, rule);
  if (doubt !== undefined) follower.doubt(`${name}: ${doubt}`, [name]);
  for (const option of rule.shellText ?? []) readText(options.get(option), follower);
  if (rule.shellText !== undefined) readLateText(name, operands, follower);
  if (rule.moves === true || rule.moves?.some((option) => options.has(option)) === true) follower.move(undefined);
  if (/^[|!]/.test(options.get('o')?.text ?? '')) follower.doubt(`${name} writes to a command`, [name]);
  const hasText = rule.shellText?.some((option) => options.has(option)) === true;
  if (hasText || rule.unless?.some((option) => options.has(option)) === true) return;
  const rest = operands.slice(rule.before ?? 0);
  const words = rule.takesAssignments === true ? afterAssignments(rest, follower) : rest;
  doubtMany(name, args.slice(0, args.length - words.length), follower);
  const startsShell =
    rule.startsShell === true ||
    (/^(?:sudo|doas)$/.test(name) && ['s', 'i', 'shell', 'login'].some((option) => options.has(option)));
  if (rule.joins === true && !options.has('x') && !options.has('exec')) readJoined(words, follower);
  else if (words.length > 0 && startsShell) readJoined(words, follower);
  else if (words.length > 0) follower.run(words, input);
  else if (startsShell || rule.isShellAlone === true) follower.doubt(`${name} starts a shell`, [name]);
}

/** Words before a command that may become several, so that another one of them is the command. */
function doubtMany(name: string, words: readonly Word[], follower: Follower): void {
  const many = words.find(({ isMany, isGlob }) => isMany || isGlob);
  if (many !== undefined) follower.doubt(`${name}: ${many.text} may become several words`, [name]);
}

/** Some take the option with the text after their operands too. */
function readLateText(name: string, operands: readonly Word[], follower: Follower): void {
  const at = operands.findIndex(({ text }) => /^(?:-\w*c|--c)/.test(text));
  if (at < 0) return;
  if (/^(?:-\w*c|--command)$/.test(operands[at]?.text ?? '')) readText(operands[at + 1], follower);
  else follower.doubt(`${name} may run a text`, [operands[at]?.text ?? '']);
}

/** Whatever has a `=` before the command is an assignment. */
function afterAssignments(words: readonly Word[], follower: Follower): readonly Word[] {
  const at = words.findIndex(({ text }) => !text.includes('='));
  const command = at < 0 ? [] : words.slice(at);
  for (const word of words.slice(0, words.length - command.length)) {
    const equals = word.text.indexOf('=');
    follower.export(word.text.slice(0, equals), { ...word, text: word.text.slice(equals + 1) }, command);
  }
  return command;
}

function followEnv(args: readonly Word[], input: Input, follower: Follower): void {
  const rule = wrapperRule('env') ?? {};
  const isSplit = ({ options }: ReadOptions) => options.has('S') || options.has('split-string');
  if (!isSplit(readOptions(args, rule))) return followWrapper('env', rule, args, input, follower);
  // What comes after the first text is not read as options before it is split.
  const end = args.findIndex((_, at) => isSplit(readOptions(args.slice(0, at + 1), rule)));
  const upTo = (at: number) => readOptions(args.slice(0, at), rule).options;
  const isAttached = (upTo(end + 1).get('S') ?? upTo(end + 1).get('split-string')) !== undefined;
  const at = isAttached ? end + 1 : end + 2;
  const split = upTo(at).get('S') ?? upTo(at).get('split-string');
  if (split === undefined) return follower.doubt('env -S without a text', ['env']);
  if (split.unknown || split.isGlob || /[\\$#]/.test(split.text) || /["']/.test(unquotedWords(split.text).join('')))
    follower.doubt('env splits a text that is not read here', [split.text]);
  doubtMany('env', args.slice(0, at), follower);
  // What `env -S` splits are words without the operators of a shell, options among them.
  const words = [...unquotedWords(split.text).map(literal), ...args.slice(at)];
  if (args.length <= mostSplits) followEnv(words, input, follower);
  else follower.doubt('env splits too many texts', ['env']);
}

const mostSplits = 200;

function unquotedWords(text: string): readonly string[] {
  const words = text.split(/[ \t\n\v\f\r]+/).filter((word) => word !== '');
  return words.map(unquoted);
}

function unquoted(word: string): string {
  const isQuoted = word.length > 1 && /^['"]/.test(word) && word.at(-1) === word[0];
  return isQuoted ? word.slice(1, -1) : word;
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
  const read: Word = { ...unknownWord(literal('')), isMany: true, isHidden: true };
  doubtMany('xargs', args.slice(0, args.length - operands.length), follower);
  follower.run(replaced.length > 0 ? words : [...words, read], undefined);
  // Rules see that there are more words than those of the line.
  if (replaced.length === 0) follower.run([...words, { ...read, text: '$@', isHidden: false }], undefined);
}

function followFind(args: readonly Word[], follower: Follower): void {
  const inside: Word[] = [];
  for (let at = 0; at < args.length; at++) {
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(args[at]?.text ?? '')) continue;
    const end = args.findIndex(
      ({ text }, index) => index > at && (text === ';' || (text === '+' && args[index - 1]?.text === '{}')),
    );
    const words = args.slice(at + 1, end < 0 ? undefined : end);
    if (words.length > 0)
      follower.run(
        words.map((word) => (word.text.includes('{}') ? { ...unknownWord(word), isMany: true } : word)),
        undefined,
      );
    if (args[at]?.text.endsWith('dir') === true) follower.move(undefined);
    inside.push(...args.slice(at, end < 0 ? undefined : end + 1));
    at += words.length;
  }
  doubtExpressions(
    args.filter((word) => !inside.includes(word)),
    follower,
  );
}

const takesValue =
  /^-(?:i?(?:name|path|regex|wholename|lname)|newer\w*|x?type|size|[acm](?:time|min)|user|group|perm|(?:max|min)depth)$/;

/** A word that is known only when it runs may be `-exec`, unless it is where that cannot be. */
function doubtExpressions(args: readonly Word[], follower: Follower): void {
  const isOpen = ({ unknown, isMany }: Word, at: number) =>
    unknown && (isMany || !(at === 0 ? /^(?:[-(!]|$)/ : takesValue).test(args[at === 0 ? 1 : at - 1]?.text ?? ''));
  const isEnd = ({ text }: Word) => text === ';' || text === '+';
  if (args.some(isOpen) || (args.some(isEnd) && args.some(({ unknown }) => unknown)))
    follower.doubt('find may run what is known only when it runs', ['find']);
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
  const isOpen = words.some(({ text }) => text.includes('{'));
  if (words.length === 0 || isOpen || runsOthers(words[0]?.text ?? ''))
    follower.doubt('parallel runs what it reads', ['parallel']);
  if (words.length > 0) readJoined(words, follower);
}

/** Whether the words after this command may name another one. */
function runsOthers(name: string): boolean {
  return wrapperRule(name) !== undefined || shells.has(name) || /^(?:eval|find|su|parallel)$/.test(name);
}

function followSu(name: string, args: readonly Word[], follower: Follower): void {
  const at = args.findIndex(({ text }) => /^(?:-[a-z]*c|--command)$/.test(text));
  const [, attached] =
    /^--command=(.*)$/s.exec(args.find(({ text }) => text.startsWith('--command='))?.text ?? '') ?? [];
  if (at >= 0) readText(args[at + 1], follower);
  else if (attached !== undefined) follower.read(attached);
  else follower.doubt(`${name} starts a shell`, [name]);
}

/** False if it is none. */
function followBuiltin(name: string, args: readonly Word[], input: Input, follower: Follower): boolean {
  const [first] = args;
  switch (name) {
    case 'eval':
      readJoined(first?.text === '--' ? args.slice(1) : args, follower);
      return true;
    case 'trap':
      if (args.length > 1)
        readText(
          args.find(({ text }) => text !== '--' && !/^-[lp]$/.test(text)),
          follower,
        );
      return true;
    case 'alias':
      for (const word of args) readText({ ...word, text: word.text.replace(/^[^=]*=?/, '') }, follower);
      if (args.some(({ text }) => text.includes('='))) follower.doubt('an alias changes what runs', [name]);
      return true;
    case 'emulate': {
      const at = args.findIndex(({ text }) => /^-\w*c$/.test(text));
      if (at >= 0) readText(args[at + 1], follower);
      return true;
    }
    case 'source':
    case '.':
      followSource(name, args, input, follower);
      return true;
    case 'cd':
    case 'chdir':
      follower.move(args.filter(({ text }) => !/^-[LPe@]+$|^--$/.test(text)));
      return true;
    case 'pushd':
    case 'popd':
      follower.move(undefined);
      return true;
    case 'mapfile':
    case 'readarray':
    case 'hash':
      if (args.some(({ text }) => /^-[a-z]*[Cp]/.test(text)))
        follower.doubt(`${name} runs what is not on this line`, [name]);
      return true;
  }
  if (!opaque.has(name)) return false;
  const asksOnly = /^--(?:version|help)$/.test(first?.text ?? '') || (name === 'crontab' && first?.text === '-l');
  if (args.length !== 1 || !asksOnly) follower.doubt(`${name} runs what is not on this line`, [name]);
  return true;
}

function followSource(name: string, args: readonly Word[], input: Input, follower: Follower): void {
  const script = args.find(({ text }) => text !== '--');
  if (script !== undefined && isOtherInput(script.text)) readInput(name, input, follower);
  else if (script?.unknown === true || script?.isGlob === true || /^-./.test(script?.text ?? ''))
    follower.doubt(`${name} reads a script that is known only when it runs`, [name]);
}
