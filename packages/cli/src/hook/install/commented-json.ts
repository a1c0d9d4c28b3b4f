/** JSON with comments and trailing commas, as some hosts permit it in their settings. */

interface Member {
  readonly key: string;
  readonly valueStart: number;
  readonly valueEnd: number;
}

/** The value of such a text. Throws a `SyntaxError` if it is none. */
export function parseCommented(text: string): unknown {
  return JSON.parse(withoutTrailingCommas(blanked(text)));
}

/** The same text with another value of one member at its top, the last one of that name, as parsers take it. The rest stays. */
export function replaceMember(text: string, key: string, value: string): string {
  const plain = blanked(text);
  const open = plain.indexOf('{');
  const members = membersOf(plain, open + 1);
  const member = members.findLast((one) => one.key === key);
  if (member !== undefined) return text.slice(0, member.valueStart) + value + text.slice(member.valueEnd);
  const comma = members.length === 0 ? '' : ',';
  return `${text.slice(0, open + 1)}\n  ${JSON.stringify(key)}: ${value}${comma}${text.slice(open + 1)}`;
}

/** Whether a comment is inside of the value of a member, where a new value would lose it. */
export function hasCommentIn(text: string, key: string): boolean {
  const plain = blanked(text);
  const member = membersOf(plain, plain.indexOf('{') + 1).findLast((one) => one.key === key);
  return (
    member !== undefined &&
    plain.slice(member.valueStart, member.valueEnd) !== text.slice(member.valueStart, member.valueEnd)
  );
}

/** The text with blanks in place of comments, so that every place stays where it was. */
function blanked(text: string): string {
  const pattern = /"(?:\\[^]|[^"\\])*(?:"|\\?$)|\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)/g;
  return text.replaceAll(pattern, (part) => (part.startsWith('"') ? part : part.replaceAll(/[^\n]/g, ' ')));
}

function withoutTrailingCommas(text: string): string {
  return text.replaceAll(/"(?:\\[^]|[^"\\])*(?:"|\\?$)|,(?=\s*[}\]])/g, (part) => (part === ',' ? ' ' : part));
}

function membersOf(plain: string, from: number): readonly Member[] {
  const members: Member[] = [];
  let at = from;
  for (;;) {
    const key = /[\s,]*("(?:\\.|[^"\\])*")\s*:\s*/y;
    key.lastIndex = at;
    const [whole, name = '""'] = key.exec(plain) ?? [];
    if (whole === undefined) return members;
    const valueStart = at + whole.length;
    const valueEnd = endOfValue(plain, valueStart);
    members.push({ key: String(JSON.parse(name)), valueStart, valueEnd });
    at = valueEnd;
  }
}

function endOfValue(plain: string, start: number): number {
  let depth = 0;
  const token = /"(?:\\[^]|[^"\\])*(?:"|\\?$)|[[\]{},]/g;
  token.lastIndex = start;
  for (let found = token.exec(plain); found !== null; found = token.exec(plain)) {
    const [part] = found;
    if (depth === 0 && /^[,}\]]$/.test(part)) return plain.slice(start, found.index).trimEnd().length + start;
    if (/^[[{]$/.test(part)) depth++;
    if (/^[\]}]$/.test(part)) depth--;
  }
  return plain.length;
}
