/** A JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [member: string]: Json };

/** Text in the canonical form of RFC 8785. */
export type CanonicalJson = string & { readonly brand: 'CanonicalJson' };

export function canonicalJson(value: Json): CanonicalJson {
  return write(value) as CanonicalJson;
}

/**
 * Writes object members in the order of their UTF-16 code units. It builds the text itself, because `JSON.stringify` of
 * a sorted object moves integer-like names to the front. Lone surrogates, which the RFC does not admit, become U+FFFD.
 * If two names become the same, the last one stays.
 */
function write(value: Json): string {
  if (typeof value === 'string') return JSON.stringify(value.toWellFormed());
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (isArray(value)) return `[${value.map(write).join(',')}]`;
  const names = sorted(Object.keys(value));
  let text = '';
  for (const name of names) {
    const key = keyOf(name);
    if (key === undefined) return write(wellFormed(value));
    const member = value[name];
    if (member !== undefined) text += `${text === '' ? '' : ','}${key}${write(member)}`;
  }
  return `{${text}}`;
}

/** Most objects come from literals whose members are in order already. */
function sorted(names: string[]): string[] {
  for (let at = 1; at < names.length; at++) if ((names[at - 1] ?? '') > (names[at] ?? '')) return names.sort();
  return names;
}

/** How many names are remembered, and how long they may be. Callers choose some of them. */
const mostKeys = 1000;
const longestKey = 100;
const keys = new Map<string, string>();

/** A name as it stands before its value. Undefined if it has a lone surrogate. */
function keyOf(name: string): string | undefined {
  const known = keys.get(name);
  if (known !== undefined) return known;
  if (!name.isWellFormed()) return undefined;
  const key = `${JSON.stringify(name)}:`;
  if (name.length > longestKey) return key;
  if (keys.size === mostKeys) keys.clear();
  keys.set(name, key);
  return key;
}

function wellFormed(value: { readonly [member: string]: Json }): Json {
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name.toWellFormed(), member]));
}

function isArray(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
