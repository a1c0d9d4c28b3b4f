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
  const names = Object.keys(value).sort();
  if (!names.every((name) => name.isWellFormed())) return write(wellFormed(value));
  let text = '';
  for (const name of names) {
    const member = value[name];
    if (member !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${write(member)}`;
  }
  return `{${text}}`;
}

function wellFormed(value: { readonly [member: string]: Json }): Json {
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name.toWellFormed(), member]));
}

function isArray(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
