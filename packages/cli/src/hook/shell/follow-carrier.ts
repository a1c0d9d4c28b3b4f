import { doubtOfProgram, inlineOption, isRunner, readRunner } from '@reeve/sdk/carriers';
import type { Follower, Input } from './follower.ts';
import { readJoined, readText } from './follower.ts';
import type { Word } from './word.ts';
import { literal } from './word.ts';

/**
 * Follows a program of everyday use that can be told to run another one. What it is told to run is judged as well; what is
 * neither that nor known to be harmless is in doubt. The table of what is harmless is the SDK's, for its adapters too.
 */
export function followCarrier(name: string, args: readonly Word[], input: Input, follower: Follower): void {
  const inline = input?.isCertain === true ? inlineOption(name, args) : undefined;
  if (loaders.test(name)) followLoader(args, follower, name);
  else if (name === 'fd' || name === 'fdfind') followFd(args, follower, name);
  else if (name === 'sg') followSg(args, follower, name);
  // A program that stands in the text is judged as one that stands between quotes.
  else if (inline !== undefined) follower.run([name, inline, input?.text ?? ''].map(literal), undefined);
  else if (isRunner(name)) followRunner(args, input, follower, name);
  else doubtRest(name, name === 'git' ? followGit(args, follower) : args, follower);
}

function doubtRest(name: string, args: readonly Word[], follower: Follower): void {
  const why = doubtOfProgram(name, args);
  if (why !== undefined) follower.doubt(`${name}: ${why}`, [name, ...args.map(({ text }) => text)]);
}

/** The loader of programs, called as a program. */
const loaders = /^ld(?:-linux|-musl|64)?[\w.-]*\.so(?:\.\d+)*$/;

function followLoader(args: readonly Word[], follower: Follower, name: string): void {
  const at = args.findIndex(({ text }) => !text.startsWith('-'));
  if (at > 0) follower.doubt(`${name}: its options are not read`, [name]);
  if (at >= 0) follower.run(args.slice(at), undefined);
}

function followFd(args: readonly Word[], follower: Follower, name: string): void {
  const at = args.findIndex(({ text }) => /^(?:-[a-zA-Z]*[xX]|--exec.*)/.test(text));
  if (at < 0) {
    if (args.some(({ unknown, text }) => unknown && /^[-$`]/.test(text)))
      follower.doubt(`${name}: a word may become an option`, [name]);
    return;
  }
  if (!/^(?:-[xX]|--exec(?:-batch)?)$/.test(args[at]?.text ?? ''))
    follower.doubt(`${name} runs what an option names`, [name, args[at]?.text ?? '']);
  const end = args.findIndex(({ text }, index) => index > at && text === ';');
  follower.run(args.slice(at + 1, end < 0 ? undefined : end), undefined);
  if (end >= 0) followFd(args.slice(end + 1), follower, name);
}

/** Follows the commands that git is given on the line. Returns the words that are left to judge. */
function followGit(args: readonly Word[], follower: Follower): readonly Word[] {
  const at = args.findIndex(({ text }, index) => !text.startsWith('-') && !/^-[Cc]$/.test(args[index - 1]?.text ?? ''));
  const verb = args[at]?.text ?? '';
  const rest = args.slice(at + 1);
  if (verb === 'bisect' && rest[0]?.text === 'run') {
    follower.run(rest.slice(1), undefined);
    return [...args.slice(0, at + 1), ...rest.slice(0, 0)];
  }
  const each = verb === 'submodule' ? rest.findIndex(({ text }) => text === 'foreach') : -1;
  if (each >= 0) {
    readJoined(afterOptions(rest.slice(each + 1)), follower);
    return args.slice(0, at + 1);
  }
  return verb === 'rebase' ? [...args.slice(0, at + 1), ...withoutExec(rest, follower)] : args;
}

/** `rebase -x TEXT`, `rebase --exec=TEXT`. */
function withoutExec(words: readonly Word[], follower: Follower): readonly Word[] {
  const left: Word[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at];
    if (word === undefined) break;
    const [, attached] = /^(?:-x|--exec=)(.+)$/s.exec(word.text) ?? [];
    if (attached !== undefined) readText({ ...word, text: attached }, follower);
    else if (word.text === '-x' || word.text === '--exec') readText(words[++at], follower);
    else left.push(word);
  }
  return left;
}

function afterOptions(words: readonly Word[]): readonly Word[] {
  const at = words.findIndex(({ text }) => !text.startsWith('-'));
  return at < 0 ? [] : words.slice(at);
}

/** `sg GROUP [-c] text`. */
function followSg(args: readonly Word[], follower: Follower, name: string): void {
  const words = args.slice(1).filter(({ text }) => text !== '-c');
  if (words.length === 0) follower.doubt(`${name} starts a shell`, [name]);
  else readJoined(words, follower);
}

/** `uv run COMMAND`, `npm exec -- COMMAND`. What npx runs is a package, which is judged by the name of npx. */
function followRunner(args: readonly Word[], input: Input, follower: Follower, name: string): void {
  const use = readRunner(name, args);
  if (use.kind === 'doubt') follower.doubt(`${name}: ${use.why}`, [name, ...args.map(({ text }) => text)]);
  // A part of a word keeps all else of it.
  if (use.kind === 'text') readText(use.word as Word, follower);
  if (use.kind !== 'command' || name === 'npx') return;
  // A dash is a program of Python that comes from the input.
  const words = use.words as readonly Word[];
  if (words[0]?.text !== '-') follower.run(words, input);
  else if (name === 'uv') follower.run([literal('python3'), ...words], input);
  else follower.doubt(`${name} runs what it reads from its input`, [name]);
}
