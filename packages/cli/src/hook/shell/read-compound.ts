import type { Inside } from './read-word.ts';
import { isArithmetic, readArithmetic, readWord } from './read-word.ts';
import type { ShellText } from './shell-text.ts';
import { Unreadable } from './shell-text.ts';
import type { Cell } from './word.ts';
import { wordOf } from './word.ts';
import { decidingVariables } from './wrapper-rules.ts';

/** What the rules for compound commands need of the reader of commands. */
export interface Grammar extends Inside {
  readonly text: ShellText;
  /** Reads commands until an end, which stays. */
  list(isEnd: () => boolean): void;
  /** Reads commands until one of these words, which is taken. */
  listUntil(...words: readonly string[]): string;
  command(): void;
  /** Skips blanks, comments and newlines. */
  skipLines(): void;
  /** The reserved word at this place. */
  reserved(): string | undefined;
  words(acrossLines: boolean): void;
  /** What runs in there may run several times. */
  repeatedly<Result>(work: () => Result): Result;
}

const openers = new Set(['if', 'for', 'while', 'until', 'case', 'select', '{', '[[', '(']);

export function isOpener(word: string): boolean {
  return openers.has(word);
}

/** The rest of a compound command after its first word. */
export function readCompound(grammar: Grammar, word: string): void {
  const { text } = grammar;
  switch (word) {
    case '(':
      if (text.peek() === '(' && isArithmeticFrom(text, text.at - 1)) {
        text.take();
        readArithmetic(text, grammar);
      } else grammar.commands(text);
      return;
    case '{':
      grammar.listUntil('}');
      return;
    case '[[':
      readTest(grammar);
      return;
    case 'if':
      readIf(grammar);
      return;
    case 'case':
      readCase(grammar);
      return;
    case 'for':
    case 'select':
      readForWords(grammar);
      readBody(grammar);
      return;
    default:
      grammar.repeatedly(() => grammar.listUntil('do'));
      grammar.repeatedly(() => grammar.listUntil('done'));
  }
}

function readIf(grammar: Grammar): void {
  grammar.listUntil('then');
  const next = grammar.listUntil('elif', 'else', 'fi');
  if (next === 'elif') readIf(grammar);
  else if (next === 'else') grammar.listUntil('fi');
}

function isArithmeticFrom(text: ShellText, from: number): boolean {
  const at = text.at;
  text.at = from;
  const answer = isArithmetic(text);
  text.at = at;
  return answer;
}

/** `[[ … ]]`: only its expansions run something. */
function readTest(grammar: Grammar): void {
  const { text } = grammar;
  for (;;) {
    grammar.skipLines();
    if (text.done) throw new Unreadable('"]]" is missing');
    if (/^\]\](?=[\s;&|()<>]|$)/.test(text.text.slice(text.at, text.at + 3))) break;
    const cells = readWord(text, grammar);
    if (cells === undefined) text.take();
    else if (wordOf(cells).holdsCode) grammar.doubt('a comparison may run what is in a subscript');
  }
  text.take(2);
}

function readForWords(grammar: Grammar): void {
  const { text } = grammar;
  text.skipBlanks();
  if (text.takeIf('((')) readArithmetic(text, grammar, true);
  else {
    const { text: name } = wordOf(requireWord(grammar, '"for" without a name'));
    if (decidingVariables.test(name)) grammar.doubt(`${name} changes what runs`);
    grammar.skipLines();
    if (/^in(?=[\s;]|$)/.test(text.text.slice(text.at, text.at + 3))) {
      text.take(2);
      grammar.words(false);
    }
  }
  text.skipBlanks();
  text.takeIf(';');
  grammar.skipLines();
}

function readBody(grammar: Grammar): void {
  const word = grammar.reserved();
  if (word !== 'do' && word !== '{') throw new Unreadable('"do" is missing');
  grammar.text.take(word.length);
  grammar.repeatedly(() => grammar.listUntil(word === 'do' ? 'done' : '}'));
}

function readCase(grammar: Grammar): void {
  const { text } = grammar;
  text.skipBlanks();
  requireWord(grammar, '"case" without a word');
  grammar.skipLines();
  text.expect('in');
  for (;;) {
    grammar.skipLines();
    if (grammar.reserved() === 'esac') break;
    if (text.done) throw new Unreadable('"esac" is missing');
    text.takeIf('(');
    do {
      text.skipBlanks();
      requireWord(grammar, '"case" without a pattern');
      text.skipBlanks();
    } while (text.takeIf('|'));
    text.expect(')');
    grammar.list(() => /^;[;&]/.test(text.text.slice(text.at, text.at + 2)) || grammar.reserved() === 'esac');
    for (const end of [';;&', ';;', ';&']) if (text.takeIf(end)) break;
  }
  text.take('esac'.length);
}

export function readFunction(grammar: Grammar): void {
  const { text } = grammar;
  text.skipBlanks();
  requireWord(grammar, '"function" without a name');
  text.skipBlanks();
  if (text.takeIf('(')) {
    text.skipBlanks();
    text.expect(')');
  }
  readFunctionBody(grammar);
}

/** What a function does counts where it is defined, because nobody knows under which name it is called. */
export function readFunctionBody(grammar: Grammar): void {
  grammar.skipLines();
  grammar.repeatedly(() => grammar.text.deeper(() => grammar.command()));
}

/** `coproc command`, or `coproc NAME compound`. */
export function readCoprocess(grammar: Grammar): void {
  const { text } = grammar;
  text.skipBlanks();
  const [name = ''] =
    /^\w+[ \t]+(?=[({]|\[\[|(?:if|for|while|until|case|select)\s)/.exec(text.text.slice(text.at)) ?? [];
  if (grammar.reserved() === undefined) text.take(name.length);
  text.deeper(() => grammar.command());
}

function requireWord(grammar: Grammar, otherwise: string): readonly Cell[] {
  const cells = readWord(grammar.text, grammar);
  if (cells === undefined) throw new Unreadable(otherwise);
  return cells;
}
