const [longestGap, longestName] = [64, 256];

/** The names of members in a text that is nearly JSON: what stands before a colon, with or without quotes. */
export function* memberNames(text: string): Generator<string> {
  if (!text.includes('{')) return;
  for (let colon = text.indexOf(':'); colon >= 0; colon = text.indexOf(':', colon + 1)) {
    const end = back(text, colon, longestGap, /[\s"'\\]/);
    const start = back(text, end, longestName, /[^"'\\{}[\],:\r\n]/);
    if (start < end) yield text.slice(start, end).trim();
  }
}

/** Goes back over characters of a kind, but not far. */
function back(text: string, from: number, most: number, kind: RegExp): number {
  let at = from;
  while (at > 0 && from - at < most && kind.test(text.charAt(at - 1))) at--;
  return at;
}
