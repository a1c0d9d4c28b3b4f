import { decodeAnsiC } from './ansi-c-quote.ts';
import { namesInArithmetic } from './arithmetic.ts';
import type { Inside } from './grammar.ts';
import { readParameter } from './read-parameter.ts';
import type { ShellText } from './shell-text.ts';
import { Unreadable } from './shell-text.ts';
import type { Cell } from './word.ts';

const endsWord = /^[ \t\n;&|()<>]/;

/** Reads one word, without brace expansion. Undefined if there is none at this place. */
export function readWord(text: ShellText, inside: Inside): Cell[] | undefined {
  const cells: Cell[] = [];
  const start = text.at;
  while (!text.done) {
    if (/^[<>]\($/.test(text.ahead(2))) cells.push(readProcessSubstitution(text, inside, cells));
    else if (endsWord.test(text.peek())) break;
    else cells.push(...readPiece(text, inside));
  }
  return text.at === start ? undefined : cells;
}

function readProcessSubstitution(text: ShellText, inside: Inside, before: readonly Cell[]): Cell {
  text.onlyBash('process substitution');
  if (before.length > 0) throw new Unreadable('a process substitution inside of a word');
  const from = text.at;
  text.take(2);
  text.deeper(() => inside.commands(text));
  return expansion(text.text.slice(from, text.at), false);
}

/** A quoted part, an expansion, or one character of a word. */
export function readPiece(text: ShellText, inside: Inside): Cell[] {
  switch (text.peek()) {
    case "'":
      text.take();
      return quotedCells(text.takeRaw("'"));
    case '"':
      return readDoubleQuoted(text, inside);
    case '$':
      return readDollar(text, inside, false);
    case '`':
      return [readBackticks(text, inside, false)];
    case '\\':
      return [literalCell(text.takeEscaped(), true)];
    default:
      return [literalCell(text.take(), false)];
  }
}

function literalCell(text: string, quoted: boolean): Cell {
  return { text, quoted, unknown: false };
}

function expansion(text: string, quoted: boolean): Cell {
  return { text, quoted, unknown: true };
}

/** An empty quoted text still makes a word. */
function quotedCells(text: string): Cell[] {
  return text === '' ? [literalCell('', true)] : Array.from(text, (character) => literalCell(character, true));
}

function readDoubleQuoted(text: ShellText, inside: Inside): Cell[] {
  text.take();
  const cells: Cell[] = [literalCell('', true)];
  while (!text.takeIf('"')) {
    if (text.done) throw new Unreadable('a " is not closed');
    cells.push(...readQuotedPiece(text, inside, '"'));
  }
  return cells;
}

/** What double quotes and here-documents let through: `$`, backticks, and a backslash before one of these. */
export function readQuotedPiece(text: ShellText, inside: Inside, quote: '"' | ''): Cell[] {
  switch (text.peek()) {
    case '$':
      return readDollar(text, inside, true);
    case '`':
      return [readBackticks(text, inside, true)];
    case '\\': {
      const next = text.takeEscaped();
      const isEscape = /[$`\\]/.test(next) || (quote !== '' && next === quote);
      return isEscape ? [literalCell(next, true)] : [literalCell('\\', true), literalCell(next, true)];
    }
    default:
      return [literalCell(text.take(), true)];
  }
}

/** Everything that begins with `$`. */
function readDollar(text: ShellText, inside: Inside, quoted: boolean): Cell[] {
  const from = text.at;
  const next = text.ahead(2).slice(1);
  if (next === "'" && !quoted) return readAnsiC(text);
  if (next === '"' && !quoted) {
    text.onlyBash('$"…"');
    text.take();
    return readDoubleQuoted(text, inside);
  }
  const isNumber = text.deeper(() => readExpansion(text, inside, quoted));
  const source = text.text.slice(from, text.at);
  return [source === '$' ? literalCell('$', quoted) : { ...expansion(source, quoted), isNumber }];
}

function readAnsiC(text: ShellText): Cell[] {
  text.onlyBash("$'…'");
  text.take(2);
  let content = '';
  for (;;) {
    const part = text.takeRaw("'");
    content += part;
    // A quote after an odd number of backslashes does not end it.
    if ((/(?<!\\)\\*$/.exec(part)?.[0].length ?? 0) % 2 === 0) break;
    content += "'";
  }
  // bash takes any number of digits in these braces; zsh knows more letters.
  if (/\\(?:x\{|[CMc]|x[89a-fA-F]|[2-3][0-7][0-7])/.test(content))
    throw new Unreadable("an escape in $'…' that shells read differently");
  return quotedCells(decodeAnsiC(content));
}

function readExpansion(text: ShellText, inside: Inside, quoted: boolean): boolean {
  text.take();
  if (text.takeIf('((')) readArithmetic(text, inside);
  else if (text.takeIf('(')) return inside.commands(text);
  else if (text.takeIf('{'))
    readParameter(text, inside, quoted, () => (quoted ? readQuotedPiece(text, inside, '"') : readPiece(text, inside)));
  else if (text.peek() === '[') throw new Unreadable('"$[" is not understood');
  else if (/^[A-Za-z_]/.test(text.peek())) while (/^\w/.test(text.peek())) text.take();
  else if (/^[0-9@*#?$!-]/.test(text.peek())) text.take();
  return false;
}

/** The rest of `$((…))`, and of `((…))` of bash. */
export function readArithmetic(text: ShellText, inside: Inside): void {
  let depth = 0;
  let expression = '';
  while (depth > 0 || text.peek() !== ')') {
    if (text.done) throw new Unreadable('"))" is missing');
    if (text.peek() === '\\') throw new Unreadable('arithmetic with a backslash in it');
    if (/^\$\([^(]/.test(text.ahead(3))) {
      if (!text.deeper(() => readExpansion(text, inside, true)))
        throw new Unreadable('arithmetic over what a program prints');
      inside.counted();
      // Nothing may be next to it that would become a part of the number.
      expression += ' $? ';
      continue;
    }
    const next = text.take();
    if (next === '(') depth++;
    if (next === ')') depth--;
    expression += next;
  }
  text.expect('))');
  for (const name of namesInArithmetic(expression)) inside.evaluated(name);
}

function readBackticks(text: ShellText, inside: Inside, quoted: boolean): Cell {
  const from = text.at;
  text.take();
  let source = '';
  while (!text.takeIf('`')) {
    if (text.done) throw new Unreadable('a ` is not closed');
    if (text.peek() !== '\\') source += text.take();
    else {
      const next = text.takeEscaped();
      if (next === '"' && quoted) throw new Unreadable('a \\" in backticks inside of double quotes');
      source += /[$`\\]/.test(next) ? next : `\\${next}`;
    }
  }
  inside.source(source, text.depth + 1);
  return expansion(text.text.slice(from, text.at), quoted);
}
