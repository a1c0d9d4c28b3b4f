export interface ScanLimits {
  readonly depth: number;
  /** The scan stops after this many values. */
  readonly values: number;
}

/** Hears of the parts of a JSON text, in order. Positions are those of the text. */
export interface JsonVisitor {
  /** A list or an object that is not empty begins; its items or members follow. */
  open(isObject: boolean): void;
  close(): void;
  /** The name of the member whose value follows, with its quotes. */
  name(start: number, end: number): void;
  /** A value begins: a text, a number, a literal, a list or an object. */
  begin(at: number): void;
  end(start: number, end: number): void;
}

/** The number of values in a JSON text: strings, numbers, literals, lists and objects. Or why the text is refused. */
export type ScannedJson = number | 'malformed' | 'too deep';

const [tab, lineFeed, carriageReturn, space] = [0x09, 0x0a, 0x0d, 0x20];
const [quote, comma, colon, backslash] = [0x22, 0x2c, 0x3a, 0x5c];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];
const [plus, minus, point, zero, nine] = [0x2b, 0x2d, 0x2e, 0x30, 0x39];
const [capitalE, smallE] = [0x45, 0x65];
const literals = ['true', 'false', 'null'];
/** What needs no care in a string. In a long one, an expression goes over it faster than a loop. */
const plainPart = /[ !#-[\]-\uffff]+/y;
const shortString = 32;
const escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/**
 * Tells whether a text is JSON, as `JSON.parse` does, but builds no values. A few million small values take long to
 * build, and nobody may ever read them.
 */
export function scanJson(text: string, limits: ScanLimits, visitor?: JsonVisitor): ScannedJson {
  /** Where the open lists and objects begin. */
  const open: number[] = [];
  let values = 0;
  let at = afterBlanks(text, 0);
  for (;;) {
    if (++values > limits.values) return values;
    visitor?.begin(at);
    const start = at;
    const char = text.charCodeAt(at);
    if (char === openBrace || char === openBracket) {
      const isObject = char === openBrace;
      at = afterBlanks(text, at + 1);
      if (text.charCodeAt(at) !== (isObject ? closeBrace : closeBracket)) {
        open.push(start);
        if (open.length > limits.depth) return 'too deep';
        visitor?.open(isObject);
        if (isObject) at = afterName(text, at, visitor);
        if (at < 0) return 'malformed';
        continue;
      }
      at++;
    } else {
      at = char === quote ? afterString(text, at) : afterPlain(text, at);
      if (at < 0) return 'malformed';
    }
    visitor?.end(start, at);
    at = afterBlanks(text, at);
    for (;;) {
      const top = open.at(-1);
      if (top === undefined) return at === text.length ? values : 'malformed';
      const isObject = text.charCodeAt(top) === openBrace;
      const next = text.charCodeAt(at++);
      if (next === comma) {
        at = afterBlanks(text, at);
        if (isObject) at = afterName(text, at, visitor);
        if (at < 0) return 'malformed';
        break;
      }
      if (next !== (isObject ? closeBrace : closeBracket)) return 'malformed';
      open.pop();
      visitor?.close();
      visitor?.end(top, at);
      at = afterBlanks(text, at);
    }
  }
}

function afterBlanks(text: string, from: number): number {
  let at = from;
  for (;;) {
    const char = text.charCodeAt(at);
    if (char > space || (char !== space && char !== lineFeed && char !== tab && char !== carriageReturn)) return at;
    at++;
  }
}

/** The position after a member name, its colon and blanks. Negative if there is no such name. */
function afterName(text: string, from: number, visitor: JsonVisitor | undefined): number {
  if (text.charCodeAt(from) !== quote) return -1;
  const end = afterString(text, from);
  if (end < 0) return -1;
  visitor?.name(from, end);
  const at = afterBlanks(text, end);
  return text.charCodeAt(at) === colon ? afterBlanks(text, at + 1) : -1;
}

function afterString(text: string, from: number): number {
  for (let at = from + 1; ; at++) {
    const char = text.charCodeAt(at);
    if (char === quote) return at + 1;
    if (char === backslash) {
      escape.lastIndex = at;
      if (!escape.test(text)) return -1;
      at = escape.lastIndex - 1;
    } else if (!(char >= space)) {
      // A control character, or the end.
      return -1;
    } else if (at - from === shortString) {
      plainPart.lastIndex = at;
      plainPart.test(text);
      at = plainPart.lastIndex - 1;
    }
  }
}

/** The position after a number or a literal. Negative if there is none. */
function afterPlain(text: string, from: number): number {
  const first = text.charCodeAt(from);
  if (first !== minus && !(first >= zero && first <= nine)) {
    const literal = literals.find((each) => text.startsWith(each, from));
    return literal === undefined ? -1 : from + literal.length;
  }
  const whole = first === minus ? from + 1 : from;
  let at = text.charCodeAt(whole) === zero ? whole + 1 : afterDigits(text, whole);
  if (at > 0 && text.charCodeAt(at) === point) at = afterDigits(text, at + 1);
  const sign = at > 0 ? text.charCodeAt(at) : 0;
  if (sign !== smallE && sign !== capitalE) return at;
  const next = text.charCodeAt(at + 1);
  return afterDigits(text, next === plus || next === minus ? at + 2 : at + 1);
}

/** The position after one digit or more. Negative if there is none. */
function afterDigits(text: string, from: number): number {
  let at = from;
  for (let char = text.charCodeAt(at); char >= zero && char <= nine; char = text.charCodeAt(at)) at++;
  return at === from ? -1 : at;
}
