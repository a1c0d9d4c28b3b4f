import type { Range } from '../kernel/index.ts';
import type { ClassedText } from './char-classes.ts';
import { classes } from './char-classes.ts';

const part = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const four = `${part}(?:\\.${part}){3}`;
/** Versions and dates have other numbers of parts. A dash is part of a name, unless addresses stand on both sides of it. */
const v4 = new RegExp(`(?<![\\w.]|(?<!(?<![\\w.-])${four})-)${four}(?!\\w|-(?!${four}(?![\\w-]|\\.\\d))|\\.\\d)`, 'y');
const v6 = /[0-9a-f:]+(?:\.\d{1,3}){0,3}/iy;
const longestGroup = 4;
const isFour = new RegExp(`^${four}$`);
const [shortestV6, longestV6] = [3, 45];
const shortestV4 = 7;
const { digit, point } = classes;

/** Addresses of IPv4 and IPv6. */
export function detectIps(classed: ClassedText): readonly Range[] {
  const { text } = classed;
  const found: Range[] = [];
  // Before the beginning of an address is no digit and no point.
  classed.eachRun(digit | point, shortestV4, (start) => {
    v4.lastIndex = start;
    if (v4.test(text)) found.push({ start, end: v4.lastIndex });
  });
  for (let colon = text.indexOf(':'); colon >= 0; colon = text.indexOf(':', v6.lastIndex)) {
    v6.lastIndex = startOf(text, colon);
    const start = v6.lastIndex;
    const end = v6.test(text) ? v6.lastIndex : start;
    v6.lastIndex = Math.max(end, colon + 1);
    if (end - start < shortestV6 || end - start > longestV6) continue;
    if (isV6(text.slice(start, end)) && !isPartOfWord(text, start, end)) found.push({ start, end });
  }
  return found;
}

/** Where the group before a colon begins. */
function startOf(text: string, colon: number): number {
  let start = colon;
  while (start > 0 && colon - start < longestGroup && /[0-9a-f]/i.test(text.charAt(start - 1))) start--;
  return start;
}

function isPartOfWord(text: string, start: number, end: number): boolean {
  return /[\w:.]/.test(text.charAt(start - 1)) || /^(?:\w|\.\d)/.test(text.slice(end, end + 2));
}

/** Eight groups, or fewer with one gap. The last two may be written as an address of IPv4. */
function isV6(text: string): boolean {
  const halves = text.split('::');
  if (halves.length > 2) return false;
  const groups = halves.map((half) => (half === '' ? [] : half.split(':')));
  const all = groups.flat();
  const last = all.at(-1) ?? '';
  const isMapped = last.includes('.');
  const plain = isMapped ? all.slice(0, -1) : all;
  if (isMapped && !isFour.test(last)) return false;
  if (!plain.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return false;
  const count = plain.length + (isMapped ? 2 : 0);
  return halves.length === 2 ? count >= 1 && count <= 7 : count === 8;
}
