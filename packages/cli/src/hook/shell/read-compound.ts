import { namesInArithmetic } from './arithmetic.ts';
import type { CommandReader } from './read-commands.ts';
import { readTest } from './read-test.ts';
import { readArithmetic, readWord } from './read-word.ts';
import { isFunctionName } from './reserved-words.ts';
import { Unreadable } from './shell-text.ts';
import type { Word } from './word.ts';
import { wordOf } from './word.ts';

const openers = new Set(['if', 'for', 'while', 'until', 'case', 'select', '{', '[[', '(']);

export function isOpener(word: string): boolean {
  return openers.has(word);
}

/** The rest of a compound command after its first word. */
export function readCompound(reader: CommandReader, word: string): void {
  const { text } = reader;
  switch (word) {
    case '(':
      if (text.peek() === '(') readDoubled(reader);
      else reader.subshell();
      return;
    case '{':
      reader.listUntil('}');
      return;
    case '[[':
      readTest(reader);
      return;
    case 'if':
      readIf(reader);
      return;
    case 'case':
      readCase(reader);
      return;
    case 'for':
    case 'select':
      readForWords(reader, word);
      readBody(reader);
      return;
    default:
      reader.repeatedly(() => reader.listUntil('do'));
      reader.repeatedly(() => reader.listUntil('done'));
  }
}

/** `((`: arithmetic, or a subshell in a subshell whose ends are apart. */
function readDoubled(reader: CommandReader): void {
  const { text } = reader;
  text.onlyBash('((');
  const [inner = ''] = /^\([\w\s./-]*\)/.exec(text.text.slice(text.at, text.at + 200)) ?? [];
  const next = text.text[text.at + inner.length];
  if (inner !== '' && next !== ')') return reader.subshell();
  text.take();
  readArithmetic(text, reader);
}

function readIf(reader: CommandReader): void {
  reader.listUntil('then');
  const next = reader.listUntil('elif', 'else', 'fi');
  if (next === 'elif') readIf(reader);
  else if (next === 'else') reader.listUntil('fi');
}

function readForWords(reader: CommandReader, word: string): void {
  const { text } = reader;
  text.skipBlanks();
  if (word === 'for' && text.starts('((')) {
    text.onlyBash('for ((');
    readLoopHead(reader);
  } else {
    const { text: name, plain } = requireWord(reader, '"for" without a name');
    if (!plain || !/^[A-Za-z_]\w*$/.test(name)) throw new Unreadable('"for" without a name');
    reader.skipLines();
    if (/^in(?:[ \t\n;]|$)/.test(text.ahead(3))) {
      text.take(2);
      const words = reader.words(false);
      const isNumeric = word === 'for' && words.every((one) => /^\d+$/.test(one.text));
      reader.assigned(name, isNumeric ? words[0] : undefined);
    } else reader.assigned(name);
  }
  text.skipBlanks();
  text.takeIf(';');
  reader.skipLines();
}

function readLoopHead(reader: CommandReader): void {
  const { text } = reader;
  const head = /^\(\([^()'"`\\[\]]*\)\)/.exec(text.text.slice(text.at, text.at + 500))?.[0];
  if (head === undefined) throw new Unreadable('a loop that is not understood');
  for (const name of namesInArithmetic(head.slice(2, -2))) reader.evaluated(name);
  text.take(head.length);
}

function readBody(reader: CommandReader): void {
  const word = reader.reserved();
  if (word !== 'do' && word !== '{') throw new Unreadable('"do" is missing');
  if (word === '{') reader.text.onlyBash('for … {');
  reader.text.take(word.length);
  reader.repeatedly(() => reader.listUntil(word === 'do' ? 'done' : '}'));
}

function readCase(reader: CommandReader): void {
  const { text } = reader;
  text.skipBlanks();
  requireWord(reader, '"case" without a word');
  reader.skipLines();
  if (!/^in[ \t\n]/.test(text.ahead(3))) throw new Unreadable('"in" is missing');
  text.take(2);
  for (;;) {
    reader.skipLines();
    if (reader.reserved() === 'esac') break;
    if (text.done) throw new Unreadable('"esac" is missing');
    text.takeIf('(');
    do {
      text.skipBlanks();
      requireWord(reader, '"case" without a pattern');
      text.skipBlanks();
    } while (text.takeIf('|'));
    text.expect(')');
    reader.list(() => /^;[;&]/.test(text.ahead(2)) || reader.reserved() === 'esac');
    if (/^(?:;;&|;&)/.test(text.ahead(3))) text.onlyBash(';&');
    for (const end of [';;&', ';;', ';&']) if (text.takeIf(end)) break;
  }
  text.take('esac'.length);
}

export function readFunction(reader: CommandReader): void {
  const { text } = reader;
  text.skipBlanks();
  if (!isFunctionName(requireWord(reader, '"function" without a name')))
    throw new Unreadable('"function" without a name');
  text.skipBlanks();
  if (text.takeIf('(')) {
    text.skipBlanks();
    text.expect(')');
  }
  readFunctionBody(reader);
}

/** What a function does counts where it is defined, because nobody knows under which name it is called. */
export function readFunctionBody(reader: CommandReader): void {
  reader.skipLines();
  reader.repeatedly(() => reader.text.deeper(() => reader.command()));
}

/** `coproc command`, or `coproc NAME compound`. */
export function readCoprocess(reader: CommandReader): void {
  const { text } = reader;
  text.skipBlanks();
  const start = text.at;
  if (reader.reserved() === undefined && text.peek() !== '(') {
    const name = requireWord(reader, '"coproc" without a command');
    text.skipBlanks();
    const isNamed = text.peek() === '(' || isOpener(reader.reserved() ?? '');
    if (isNamed && !/^[A-Za-z_]\w*$/.test(name.plain ? name.text : '')) throw new Unreadable('"coproc" without a name');
    if (isNamed) reader.assigned(name.text);
    else text.at = start;
  }
  text.deeper(() => reader.command());
}

function requireWord(reader: CommandReader, otherwise: string): Word {
  const cells = readWord(reader.text, reader);
  if (cells === undefined) throw new Unreadable(otherwise);
  return wordOf(cells);
}
