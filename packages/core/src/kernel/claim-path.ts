type Claims = Readonly<Record<string, unknown>>;

/** The names that lead to a claim: members of members stand behind dots, and a dot in a name is written `\\.`. */
export function claimPath(text: string): readonly string[] | undefined {
  const names = [''];
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? '';
    if (char === '.') names.push('');
    else if (char === '\\' && (text[at + 1] === '.' || text[at + 1] === '\\'))
      names.push((names.pop() ?? '') + text[++at]);
    else names.push((names.pop() ?? '') + char);
  }
  return names.includes('') ? undefined : names;
}

/** What is there; undefined if nothing is. */
export function claimAt(claims: Claims, path: readonly string[]): unknown {
  let value: unknown = claims;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, name)) {
      return undefined;
    }
    value = (value as Claims)[name];
  }
  return value;
}

/** A claim as a text; undefined if it is none. */
export function claimText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'boolean' || Number.isSafeInteger(value) ? String(value) : undefined;
}
