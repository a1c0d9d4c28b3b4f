/**
 * A regular expression that finds a text, given in lower case, in any case. PostgreSQL's own lower case depends on the
 * setup of the server; this does not.
 */
export function spelledInAnyCase(lower: string): string {
  return Array.from(lower, (letter) => oneOf([letter, ...(capitals().get(letter) ?? [])])).join('');
}

function oneOf(letters: readonly string[]): string {
  const [only = ''] = letters;
  if (letters.length > 1) return `[${letters.join('')}]`;
  return /^[!-/:-@[-`{-~]$/.test(only) ? `\\${only}` : only;
}

let known: ReadonlyMap<string, readonly string[]> | undefined;

/** By lower-case letter: all other characters with that lower case. */
function capitals(): ReadonlyMap<string, readonly string[]> {
  if (known !== undefined) return known;
  const found = new Map<string, string[]>();
  for (let code = 0x41; code < 0x1_f000; code++) {
    const letter = String.fromCodePoint(code);
    const lower = letter.toLowerCase();
    if (lower === letter || lower.length !== letter.length) continue;
    found.set(lower, [...(found.get(lower) ?? []), letter]);
  }
  known = found;
  return known;
}
