/**
 * Globs of the policy format, matched character by character in the plainest way, to compare the compiled ones with.
 * Contract, section 6: anchored, `*` any run without `/`, `**` any run, `?` one character, `[…]` a set.
 */
export function slowGlobMatches(glob: string, text: string): boolean {
  known.clear();
  return matchFrom(Array.from(glob), 0, Array.from(text), 0);
}

/** Results of the present match, so that long texts finish in time. */
const known = new Map<string, boolean>();

function matchFrom(glob: readonly string[], g: number, text: readonly string[], t: number): boolean {
  const place = `${g} ${t}`;
  const found = known.get(place) ?? tryFrom(glob, g, text, t);
  known.set(place, found);
  return found;
}

function tryFrom(glob: readonly string[], g: number, text: readonly string[], t: number): boolean {
  const char = glob[g];
  if (char === undefined) return t === text.length;
  if (char === '*') return matchStars(glob, g, text, t);
  const here = text[t];
  if (here === undefined) return false;
  if (char === '?') return matchFrom(glob, g + 1, text, t + 1);
  if (char === '[') {
    const set = readSet(glob, g);
    return set.holds(here) && matchFrom(glob, set.end, text, t + 1);
  }
  if (char === '\\') return glob[g + 1] === here && matchFrom(glob, g + 2, text, t + 1);
  return char === here && matchFrom(glob, g + 1, text, t + 1);
}

function matchStars(glob: readonly string[], g: number, text: readonly string[], t: number): boolean {
  let end = g;
  while (glob[end] === '*') end++;
  const anything = end - g > 1;
  for (let taken = t; ; taken++) {
    if (matchFrom(glob, end, text, taken)) return true;
    const next = text[taken];
    if (next === undefined || (next === '/' && !anything)) return false;
  }
}

function readSet(glob: readonly string[], start: number): { holds: (char: string) => boolean; end: number } {
  let at = start + 1;
  const negated = glob[at] === '!' || glob[at] === '^';
  if (negated) at++;
  const ranges: (readonly [string, string])[] = [];
  for (let first = true; glob[at] !== ']' || first; first = false) {
    const low = glob[at];
    if (low === undefined) throw new Error('"[" has no matching "]"');
    const high = glob[at + 2];
    if (glob[at + 1] === '-' && high !== undefined && high !== ']') {
      ranges.push([low, high]);
      at += 3;
    } else {
      ranges.push([low, low]);
      at += 1;
    }
  }
  const listed = (char: string) =>
    ranges.some(([low, high]) => codeOf(low) <= codeOf(char) && codeOf(char) <= codeOf(high));
  return { holds: (char) => listed(char) !== negated, end: at + 1 };
}

function codeOf(char: string): number {
  return char.codePointAt(0) ?? 0;
}
