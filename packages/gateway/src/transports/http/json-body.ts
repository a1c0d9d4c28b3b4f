import { numberFaultIn } from '@reeve/contract/exact-numbers';
import { HttpError } from './problem.ts';

const deepest = 64;
/**
 * The most members or elements in one place near the top of a body. Deeper places, such as the arguments of a simulated
 * call, may have any number. This is checked before parsing and validation, which are slow for very many.
 */
const mostInOnePlace = 1000;
const nearTheTop = 2;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Reads a JSON body: UTF-8, no duplicate members, no number that readers round, with bounded depth and width. An empty body is undefined. */
export function parseJsonBody(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  const text = textOf(bytes);
  const fault = faultIn(text);
  if (fault === tooMany) throw new HttpError('validation_failed', tooMany);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw notJson();
  }
  const problem = fault ?? numberFaultIn(text);
  if (problem !== undefined) throw new HttpError('malformed_json', problem);
  return value;
}

function textOf(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw notJson();
  }
}

function notJson(): HttpError {
  return new HttpError('malformed_json', 'the body is not JSON in UTF-8');
}

const tooMany = `the body holds more than ${mostInOnePlace} members or elements in one place`;

interface OpenContainer {
  readonly names: Set<string> | undefined;
  entries: number;
}

const [quote, backslash, colon, comma] = [0x22, 0x5c, 0x3a, 0x2c];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];

/**
 * Finds what `JSON.parse` accepts and a gateway must not: duplicate members, which two readers may read differently,
 * and structures that exhaust code that walks them. For a text that is not JSON, the result means nothing.
 */
function faultIn(text: string): string | undefined {
  const open: OpenContainer[] = [];
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === openBrace || char === openBracket) {
      open.push({ names: char === openBrace ? new Set() : undefined, entries: 1 });
      if (open.length > deepest) return `the body is nested deeper than ${deepest}`;
    } else if (char === closeBrace || char === closeBracket) {
      open.pop();
    } else if (char === comma) {
      const container = open.at(-1);
      if (container !== undefined && ++container.entries > mostInOnePlace && open.length <= nearTheTop) return tooMany;
    } else if (char === quote) {
      const end = endOfString(text, at);
      const names = open.at(-1)?.names;
      if (names !== undefined && isName(text, end)) {
        const name = nameOf(text, at, end);
        if (names.has(name)) return `the member ${JSON.stringify(name)} is there twice`;
        names.add(name);
      }
      at = end;
    }
  }
  return undefined;
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  for (; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === quote) return at;
    if (char === backslash) at++;
  }
  return at;
}

function nameOf(text: string, start: number, end: number): string {
  const written = text.slice(start + 1, end);
  if (!written.includes('\\')) return written;
  try {
    return JSON.parse(`"${written}"`) as string;
  } catch {
    return written;
  }
}

/** A string is the name of a member if a colon follows. */
function isName(text: string, end: number): boolean {
  let at = end + 1;
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++;
  return text.charCodeAt(at) === colon;
}
