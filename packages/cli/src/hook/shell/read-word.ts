import { decodeAnsiC } from './ansi-c-quote.ts';
import { ShellText, Unreadable } from './shell-text.ts';
import type { Cell } from './word.ts';

/** Whoever reads the commands inside of words. */
export interface Inside {
  /** Reads commands up to the closing parenthesis, which is taken too. */
  commands(text: ShellText): void;
  /** Reads commands in a text of their own. */
  source(source: string, depth: number): void;
  /** Something may run that is not visible here. */
  doubt(reason: string): void;
}

const endsWord = /[\s;&|()<>]/;
const blank = /[ \t\n]/;

/** Reads one word, without brace expansion. Undefined if there is none at this place. */
export function readWord(text: ShellText, inside: Inside): Cell[] | undefined {
  const cells: Cell[] = [];
  const start = text.at;
  while (!text.done) {
    const next = text.peek();
    if ((next === '<' || next === '>') && text.peek(1) === '(' && isProcessSubstitution(text, cells)) {
      cells.push(readProcessSubstitution(text, inside));
    } else if (text.starts('\\\n')) text.take(2);
    else if (blank.test(next) || (endsWord.test(next) && !isOtherSpace(next))) break;
    else cells.push(...readPiece(text, inside));
  }
  return text.at === start ? undefined : cells;
}

/** Only blank, tab and newline separate words. Other white space is part of a word. */
function isOtherSpace(character: string): boolean {
  return /\s/.test(character) && !blank.test(character);
}

/** After a digit, as in `2>(…)`, it is a redirection of that number in no shell. So it always is one. */
function isProcessSubstitution(text: ShellText, cells: readonly Cell[]): boolean {
  return text.peek() === '<' || cells.length === 0 || !cells.every(({ text: digit }) => /^\d$/.test(digit));
}

function readProcessSubstitution(text: ShellText, inside: Inside): Cell {
  const from = text.at;
  text.take(2);
  text.deeper(() => inside.commands(text));
  return expansion(text.text.slice(from, text.at), false);
}

function readPiece(text: ShellText, inside: Inside): Cell[] {
  switch (text.peek()) {
    case "'":
      return readSingleQuoted(text);
    case '"':
      return readDoubleQuoted(text, inside);
    case '$':
      return readDollar(text, inside, false);
    case '`':
      return [readBackticks(text, inside, false)];
    case '\\':
      text.take();
      if (text.done) return [literalCell('\\', true)];
      return [literalCell(text.take(), true)];
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

function readSingleQuoted(text: ShellText): Cell[] {
  text.take();
  const end = text.text.indexOf("'", text.at);
  if (end < 0) throw new Unreadable("a ' is not closed");
  const content = text.take(end - text.at);
  text.take();
  return quotedCells(content);
}

function readDoubleQuoted(text: ShellText, inside: Inside): Cell[] {
  text.take();
  const cells: Cell[] = [literalCell('', true)];
  while (!text.takeIf('"')) {
    if (text.done) throw new Unreadable('a " is not closed');
    if (text.peek() === '$') cells.push(...readDollar(text, inside, true));
    else if (text.peek() === '`') cells.push(readBackticks(text, inside, true));
    else if (text.takeIf('\\\n')) continue;
    else if (text.peek() === '\\' && /[$`"\\]/.test(text.peek(1))) {
      text.take();
      cells.push(literalCell(text.take(), true));
    } else cells.push(literalCell(text.take(), true));
  }
  return cells;
}

/** Everything that begins with `$`. */
export function readDollar(text: ShellText, inside: Inside, quoted: boolean): Cell[] {
  const from = text.at;
  const next = text.peek(1);
  if (next === "'" && !quoted) return readAnsiC(text);
  if (next === '"' && !quoted) {
    text.take();
    return readDoubleQuoted(text, inside);
  }
  text.deeper(() => skipExpansion(text, inside, quoted));
  const source = text.text.slice(from, text.at);
  return [source === '$' ? literalCell('$', quoted) : expansion(source, quoted)];
}

function readAnsiC(text: ShellText): Cell[] {
  text.take(2);
  const from = text.at;
  while (!text.done && text.peek() !== "'") text.take(text.peek() === '\\' ? 2 : 1);
  const content = text.text.slice(from, text.at);
  // bash takes any number of digits in these braces; zsh knows more letters.
  if (/\\(?:x\{|[CM]-)/.test(content)) throw new Unreadable("an escape in $'…' that shells read differently");
  text.expect("'");
  return quotedCells(decodeAnsiC(content));
}

function skipExpansion(text: ShellText, inside: Inside, quoted: boolean): void {
  text.take();
  if (text.starts('((') && isArithmetic(text)) {
    text.take(2);
    readArithmetic(text, inside);
  } else if (text.takeIf('(')) inside.commands(text);
  else if (text.takeIf('{')) readParameter(text, inside, quoted);
  else if (text.takeIf('[')) readUntil(text, inside, ['[', ']']);
  else if (/[A-Za-z_]/.test(text.peek())) while (/\w/.test(text.peek())) text.take();
  else if (/[0-9@*#?$!-]/.test(text.peek())) text.take();
}

/** bash reads `((` as arithmetic if the inner parenthesis is closed right before the outer one. */
export function isArithmetic(text: ShellText): boolean {
  let depth = 0;
  for (let at = text.at + 1; at < text.text.length; at++) {
    const character = text.text[at] ?? '';
    if (character === '\\') at++;
    else if (character === "'" || character === '"') {
      at = text.text.indexOf(character, at + 1);
      if (at < 0) return false;
    } else if (character === '(') depth++;
    else if (character === ')' && --depth === 0) return text.text[at + 1] === ')';
  }
  return false;
}

/** Reads to the end of arithmetic. What looks like a command in it is a reason for doubt. */
export function readArithmetic(text: ShellText, inside: Inside, isLoop = false): void {
  const from = text.at;
  readUntil(text, inside, ['(', ')']);
  const content = text.text.slice(from, text.at - 1).replaceAll(/\$\([^()$]*\)/gs, '0');
  // The head of a loop is three expressions.
  const expressions = isLoop ? content.replaceAll(/;\s*/g, ',') : content;
  if (/[;'\n]|[\w}]\s+[\w$]/.test(expressions)) inside.doubt('arithmetic with words in it');
  text.expect(')');
}

/** Reads to the closing bracket, through quotes and expansions. */
function readUntil(text: ShellText, inside: Inside, [open, close]: readonly [string, string]): void {
  let depth = 1;
  while (!text.done) {
    const next = text.peek();
    if (next === '$') readDollar(text, inside, false);
    else if (next === '`') readBackticks(text, inside, false);
    else if (next === '"') readDoubleQuoted(text, inside);
    // Shells expand what is between these as if it were in double quotes.
    else if (next === "'" || next === '\\') throw new Unreadable('arithmetic with quotes in it');
    else {
      text.take();
      if (next === open) depth++;
      if (next === close && --depth === 0) return;
    }
  }
  throw new Unreadable(`a "${close}" is missing`);
}

/** The rest of `${…}`. Inside double quotes a single quote stands for itself. */
function readParameter(text: ShellText, inside: Inside, quoted: boolean): void {
  const from = text.at;
  while (!text.takeIf('}')) {
    if (text.done) throw new Unreadable('a "${" is not closed');
    const next = text.peek();
    if (next === '$') readDollar(text, inside, quoted);
    else if (next === '`') readBackticks(text, inside, quoted);
    else if (next === '"') readDoubleQuoted(text, inside);
    else if (next === "'" && !quoted) readSingleQuoted(text);
    // Whether it quotes depends on the operator and on the shell.
    else if (next === "'") throw new Unreadable('a single quote inside of "${…}"');
    else if (next === '<' || next === '>') readAngle(text, inside);
    else text.take(next === '\\' ? 2 : 1);
  }
  const content = text.text.slice(from, text.at - 1);
  if (content.startsWith('(') || content.endsWith('@P'))
    inside.doubt('an expansion that runs the content of a variable');
  // `${ command; }` and `${| command; }` run commands since bash 5.3.
  if (/^[\s|]/.test(content)) inside.source(content.replace(/^\|/, ''), text.depth + 1);
}

function readAngle(text: ShellText, inside: Inside): void {
  if (text.peek(1) === '(') readProcessSubstitution(text, inside);
  else text.take();
}

function readBackticks(text: ShellText, inside: Inside, quoted: boolean): Cell {
  const from = text.at;
  text.take();
  let source = '';
  while (!text.takeIf('`')) {
    if (text.done) throw new Unreadable('a ` is not closed');
    const isEscape = text.peek() === '\\' && (/[$`\\]/.test(text.peek(1)) || (quoted && text.peek(1) === '"'));
    if (isEscape) text.take();
    source += text.take();
  }
  inside.source(source, text.depth + 1);
  return expansion(text.text.slice(from, text.at), quoted);
}

/** The body of a here-document whose delimiter is not quoted: expansions happen in it. */
export function readHereDocument(body: string, parent: ShellText, inside: Inside): { hasExpansion: boolean } {
  const text = new ShellText(body, parent.budget, parent.depth + 1);
  let hasExpansion = false;
  while (!text.done) {
    if (text.peek() === '\\') text.take(2);
    else if (text.peek() === '$') hasExpansion = readDollar(text, inside, true).some(isUnknown) || hasExpansion;
    else if (text.peek() === '`') hasExpansion = isUnknown(readBackticks(text, inside, false)) || hasExpansion;
    else text.take();
  }
  return { hasExpansion };
}

function isUnknown({ unknown }: Cell): boolean {
  return unknown;
}
