import type { CommandReader } from './read-commands.ts';
import { readPiece, readWord } from './read-word.ts';
import { Unreadable } from './shell-text.ts';
import type { Word } from './word.ts';
import { wordOf } from './word.ts';

const comparing = /^-(?:eq|ne|lt|le|gt|ge)$/;

/** `[[ … ]]` of bash. Its expansions run something, and so do subscripts where it evaluates. */
export function readTest(reader: CommandReader): void {
  const { text } = reader;
  const words: Word[] = [];
  for (;;) {
    text.skipBlanks();
    if (/^\]\](?:[ \t\n;&|)<>]|$)/.test(text.ahead(3))) break;
    if (text.takeIf('&&') || text.takeIf('||')) reader.skipLines();
    else if (/^[()<>]/.test(text.peek()) && !/^[<>]\(/.test(text.ahead(2))) text.take();
    else words.push(...readOperand(reader, words.at(-1)?.text === '=~'));
  }
  text.take(2);
  words.forEach((word, at) => {
    if (/^-[vR]$/.test(word.text)) throw new Unreadable('a test that evaluates a name');
    if (!comparing.test(word.text)) return;
    for (const operand of [words[at - 1], words[at + 1]]) evaluatedIn(operand, reader);
  });
}

function readOperand(reader: CommandReader, isPattern: boolean): readonly Word[] {
  const { text } = reader;
  if (!isPattern) {
    const cells = readWord(text, reader);
    if (cells === undefined) throw new Unreadable('a test that is not understood');
    return [wordOf(cells)];
  }
  // Parentheses and bars are part of a regular expression.
  while (!/^[ \t]/.test(text.peek())) {
    if (text.done || /^[\n;&<>`]/.test(text.peek())) throw new Unreadable('a test that is not understood');
    readPiece(text, reader);
  }
  return [wordOf([])];
}

/** What a test compares as numbers is arithmetic. */
function evaluatedIn(word: Word | undefined, reader: CommandReader): void {
  const [, name, number] = /^(?:\$\{?([A-Za-z_]\w*)\}?|(-?\d+|\$[#?]|\$\{#\w+\}))$/.exec(word?.text ?? '') ?? [];
  if (name !== undefined) reader.evaluated(name);
  else if (number === undefined) throw new Unreadable('a comparison of more than names and numbers');
}
