import type { Grammar } from './grammar.ts';
import { readPiece, readWord } from './read-word.ts';
import { Unreadable } from './shell-text.ts';
import type { Word } from './word.ts';
import { wordOf } from './word.ts';

const comparing = /^-(?:eq|ne|lt|le|gt|ge)$/;

/** `[[ … ]]` of bash. Its expansions run something, and so do subscripts where it evaluates. */
export function readTest(grammar: Grammar): void {
  const { text } = grammar;
  const words: Word[] = [];
  for (;;) {
    text.skipBlanks();
    if (/^\]\](?:[ \t\n;&|)<>]|$)/.test(text.ahead(3))) break;
    if (text.takeIf('&&') || text.takeIf('||')) grammar.skipLines();
    else if (/^[()<>]/.test(text.peek()) && !/^[<>]\(/.test(text.ahead(2))) text.take();
    else words.push(...readOperand(grammar, words.at(-1)?.text === '=~'));
  }
  text.take(2);
  words.forEach((word, at) => {
    if (/^-[vR]$/.test(word.text)) throw new Unreadable('a test that evaluates a name');
    if (!comparing.test(word.text)) return;
    for (const operand of [words[at - 1], words[at + 1]]) evaluatedIn(operand, grammar);
  });
}

function readOperand(grammar: Grammar, isPattern: boolean): readonly Word[] {
  const { text } = grammar;
  if (!isPattern) {
    const cells = readWord(text, grammar);
    if (cells === undefined) throw new Unreadable('a test that is not understood');
    return [wordOf(cells)];
  }
  // Parentheses and bars are part of a regular expression.
  while (!/^[ \t]/.test(text.peek())) {
    if (text.done || /^[\n;&<>`]/.test(text.peek())) throw new Unreadable('a test that is not understood');
    readPiece(text, grammar);
  }
  return [wordOf([])];
}

/** What a test compares as numbers is arithmetic. */
function evaluatedIn(word: Word | undefined, grammar: Grammar): void {
  const [, name, number] = /^(?:\$\{?([A-Za-z_]\w*)\}?|(-?\d+|\$[#?]|\$\{#\w+\}))$/.exec(word?.text ?? '') ?? [];
  if (name !== undefined) grammar.evaluated(name);
  else if (word?.isNumber === true) grammar.counted();
  else if (number === undefined) throw new Unreadable('a comparison of more than names and numbers');
}
