import type { Range } from '../kernel/index.ts';

const [longestLocal, longestDomain] = [64, 253];
/** Half of a letter counts as one. A slash, a question mark, an equals sign and an ampersand may be in an address, and hardly are: they are those of a URL. */
const localPart = /[\p{L}\p{N}\p{Cs}.!#$%'*+^_`{|}~-]/u;
const domainPart = /[\p{L}\p{N}.-]/u;
const label = /^[\p{L}\p{N}-]{1,63}$/u;
/** The last label has letters only, or is written in the ASCII form of other letters. */
const lastLabel = /^(?:xn--[a-z0-9-]{2,59}|\p{L}{2,63})/iu;
const signs = ['@', '%40'];

/** Email addresses, also as they are written in a URL. It looks at most 64 characters back and 253 ahead. */
export function* detectEmails(text: string): Generator<Range> {
  for (const sign of signs) {
    let after = 0;
    for (let at = text.indexOf(sign); at >= 0; at = text.indexOf(sign, at + 1)) {
      const start = startOf(text, at, after);
      const end = start === at ? undefined : endOf(text, at + sign.length);
      if (end === undefined) continue;
      after = end;
      yield { start, end };
    }
  }
}

function startOf(text: string, sign: number, after: number): number {
  const first = Math.max(after, sign - longestLocal);
  const quote = text.charAt(sign - 1) === '"' ? text.lastIndexOf('"', sign - 2) : -1;
  // What is quoted ends with its line.
  if (quote >= first && quote < sign - 2 && !text.slice(quote, sign).includes('\n')) return quote;
  let start = sign;
  while (start > first && localPart.test(text.charAt(start - 1))) start--;
  // Quotes and marks before it are no part of it.
  while (start < sign && /[.!#$%'*^`{|}~]/.test(text.charAt(start))) start++;
  return start;
}

function endOf(text: string, start: number): number | undefined {
  let end = start;
  while (end < text.length && end - start < longestDomain && domainPart.test(text.charAt(end))) end++;
  let at = start;
  let found: number | undefined;
  for (const [nth, part] of text.slice(start, end).split('.').entries()) {
    const last = nth === 0 ? undefined : lastLabel.exec(part)?.[0];
    if (last !== undefined) found = at + last.length;
    if (!label.test(part) || part.startsWith('-') || part.endsWith('-')) break;
    at += part.length + 1;
  }
  return found;
}
