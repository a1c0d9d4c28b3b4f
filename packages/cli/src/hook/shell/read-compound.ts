import { namesInArithmetic } from './arithmetic.ts';
import type { Grammar } from './grammar.ts';
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
export function readCompound(grammar: Grammar, word: string): void {
  const { text } = grammar;
  switch (word) {
    case '(':
      if (text.peek() === '(') readDoubled(grammar);
      else grammar.subshell();
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
      readForWords(grammar, word);
      readBody(grammar);
      return;
    default:
      grammar.repeatedly(() => grammar.listUntil('do'));
      grammar.repeatedly(() => grammar.listUntil('done'));
  }
}

/** `((`: arithmetic, or a subshell in a subshell whose ends are apart. */
function readDoubled(grammar: Grammar): void {
  const { text } = grammar;
  text.onlyBash('((');
  const [inner = ''] = /^\([\w\s./-]*\)/.exec(text.text.slice(text.at, text.at + 200)) ?? [];
  const next = text.text[text.at + inner.length];
  if (inner !== '' && next !== ')') grammar.subshell();
  else {
    text.take();
    readArithmetic(text, grammar);
  }
}

function readIf(grammar: Grammar): void {
  grammar.listUntil('then');
  const next = grammar.listUntil('elif', 'else', 'fi');
  if (next === 'elif') readIf(grammar);
  else if (next === 'else') grammar.listUntil('fi');
}

function readForWords(grammar: Grammar, word: string): void {
  const { text } = grammar;
  text.skipBlanks();
  if (word === 'for' && text.starts('((')) {
    text.onlyBash('for ((');
    readLoopHead(grammar);
  } else {
    const { text: name, plain } = requireWord(grammar, '"for" without a name');
    if (!plain || !/^[A-Za-z_]\w*$/.test(name)) throw new Unreadable('"for" without a name');
    grammar.skipLines();
    if (/^in(?:[ \t\n;]|$)/.test(text.ahead(3))) {
      text.take(2);
      const words = grammar.words(false);
      const isNumeric = word === 'for' && words.every((one) => /^\d+$/.test(one.text) || one.isNumber === true);
      for (const one of isNumeric ? words : [undefined]) grammar.assigned(name, one);
    } else grammar.assigned(name);
  }
  text.skipBlanks();
  text.takeIf(';');
  grammar.skipLines();
}

function readLoopHead(grammar: Grammar): void {
  const { text } = grammar;
  const head = /^\(\([^()'"`\\[\]]*\)\)/.exec(text.text.slice(text.at, text.at + 500))?.[0];
  if (head === undefined) throw new Unreadable('a loop that is not understood');
  for (const name of namesInArithmetic(head.slice(2, -2))) grammar.evaluated(name);
  text.take(head.length);
}

function readBody(grammar: Grammar): void {
  const word = grammar.reserved();
  if (word !== 'do' && word !== '{') throw new Unreadable('"do" is missing');
  if (word === '{') grammar.text.onlyBash('for … {');
  grammar.text.take(word.length);
  grammar.repeatedly(() => grammar.listUntil(word === 'do' ? 'done' : '}'));
}

function readCase(grammar: Grammar): void {
  const { text } = grammar;
  text.skipBlanks();
  requireWord(grammar, '"case" without a word');
  grammar.skipLines();
  if (!/^in[ \t\n]/.test(text.ahead(3))) throw new Unreadable('"in" is missing');
  text.take(2);
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
    grammar.list(() => /^;[;&]/.test(text.ahead(2)) || grammar.reserved() === 'esac');
    if (/^(?:;;&|;&)/.test(text.ahead(3))) text.onlyBash(';&');
    for (const end of [';;&', ';;', ';&']) if (text.takeIf(end)) break;
  }
  text.take('esac'.length);
}

export function readFunction(grammar: Grammar): void {
  const { text } = grammar;
  text.skipBlanks();
  const name = requireWord(grammar, '"function" without a name');
  if (!isFunctionName(name)) throw new Unreadable('"function" without a name');
  grammar.defined();
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
  const start = text.at;
  if (grammar.reserved() === undefined && text.peek() !== '(') {
    const name = requireWord(grammar, '"coproc" without a command');
    text.skipBlanks();
    const isNamed = text.peek() === '(' || isOpener(grammar.reserved() ?? '');
    if (isNamed && !/^[A-Za-z_]\w*$/.test(name.plain ? name.text : '')) throw new Unreadable('"coproc" without a name');
    if (isNamed) grammar.assigned(name.text);
    else text.at = start;
  }
  text.deeper(() => grammar.command());
}

function requireWord(grammar: Grammar, otherwise: string): Word {
  const cells = readWord(grammar.text, grammar);
  if (cells === undefined) throw new Unreadable(otherwise);
  return wordOf(cells);
}
