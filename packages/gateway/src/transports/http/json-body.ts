import { HttpError } from './problem.ts';

const deepest = 64;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Reads a JSON body: UTF-8, no member twice, not nested without end. Empty is undefined. */
export function parseJsonBody(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  let text: string;
  let value: unknown;
  try {
    text = utf8.decode(bytes);
    value = JSON.parse(text);
  } catch {
    throw new HttpError('malformed_json', 'the body is not JSON in UTF-8');
  }
  const fault = faultIn(text);
  if (fault !== undefined) throw new HttpError('malformed_json', fault);
  return value;
}

/**
 * What `JSON.parse` lets pass and a serious reader must not: the same member twice, of which two readers may see
 * different ones, and nesting that exhausts whoever walks it. The text is known to be JSON.
 */
function faultIn(text: string): string | undefined {
  const open: (Set<string> | undefined)[] = [];
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '{' || char === '[') {
      open.push(char === '{' ? new Set() : undefined);
      if (open.length > deepest) return `the body is nested deeper than ${deepest}`;
    } else if (char === '}' || char === ']') {
      open.pop();
    } else if (char === '"') {
      const end = endOfString(text, at);
      const members = open.at(-1);
      if (members !== undefined && isName(text, end)) {
        const name = JSON.parse(text.slice(at, end + 1)) as string;
        if (members.has(name)) return `the member ${JSON.stringify(name)} is there twice`;
        members.add(name);
      }
      at = end;
    }
  }
  return undefined;
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}

/** A string is a member's name where a colon follows. */
function isName(text: string, end: number): boolean {
  let at = end + 1;
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++;
  return text[at] === ':';
}
