import { parseDocument } from 'yaml';

/**
 * A document begins where a line starts with `---`, followed by a blank or the end of the line. YAML has no other
 * marker.
 */
const marker = /^---(?=[ \t\r]|$)/;

/** The documents of a YAML text, each with the comments before it. Empty ones are left out. */
export function splitDocuments(text: string): string[] {
  const pieces: string[][] = [[]];
  for (const line of text.split('\n')) {
    if (!marker.test(line)) {
      pieces.at(-1)?.push(line);
      continue;
    }
    const rest = line.replace(marker, '').trim();
    // The text before the first marker is a document only if it has more than comments.
    if (pieces.length > 1 || hasContent(pieces[0] ?? [])) pieces.push(rest === '' ? [] : [rest]);
    else if (rest !== '') pieces[0]?.push(rest);
  }
  return pieces.filter(hasContent).map((lines) => `${lines.join('\n').trim()}\n`);
}

function hasContent(lines: readonly string[]): boolean {
  const { contents } = parseDocument(lines.join('\n'));
  return contents !== null && contents.toJSON() !== null;
}
