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
  end(at: number): void;
}

/** The number of values in a JSON text: strings, numbers, literals, lists and objects. Or why the text is refused. */
export type ScannedJson = number | 'malformed' | 'too deep';

const [tab, lineFeed, carriageReturn, space] = [0x09, 0x0a, 0x0d, 0x20];
const [quote, comma, colon, backslash] = [0x22, 0x2c, 0x3a, 0x5c];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];
const plain = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)/y;
const escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/**
 * Tells whether a text is JSON, as `JSON.parse` does, but builds no values. A few million small values take long to
 * build, and nobody may ever read them.
 */
export function scanJson(text: string, limits: ScanLimits, visitor?: JsonVisitor): ScannedJson {
  /** The open brackets: true for an object, false for a list. */
  const open: boolean[] = [];
  let values = 0;
  let at = afterBlanks(text, 0);
  for (;;) {
    if (++values > limits.values) return values;
    visitor?.begin(at);
    const char = text.charCodeAt(at);
    if (char === openBrace || char === openBracket) {
      const isObject = char === openBrace;
      at = afterBlanks(text, at + 1);
      if (text.charCodeAt(at) !== (isObject ? closeBrace : closeBracket)) {
        open.push(isObject);
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
    visitor?.end(at);
    at = afterBlanks(text, at);
    for (let top = open.at(-1); ; top = open.at(-1)) {
      if (top === undefined) return at === text.length ? values : 'malformed';
      const next = text.charCodeAt(at++);
      if (next === comma) {
        at = afterBlanks(text, at);
        if (top) at = afterName(text, at, visitor);
        if (at < 0) return 'malformed';
        break;
      }
      if (next !== (top ? closeBrace : closeBracket)) return 'malformed';
      open.pop();
      visitor?.close();
      visitor?.end(at);
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
    }
  }
}

function afterPlain(text: string, from: number): number {
  plain.lastIndex = from;
  return plain.test(text) ? plain.lastIndex : -1;
}
