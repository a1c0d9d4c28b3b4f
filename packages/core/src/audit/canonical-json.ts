/** A JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [member: string]: Json };

/** Text in the canonical form of RFC 8785. */
export type CanonicalJson = string & { readonly brand: 'CanonicalJson' };

export function canonicalJson(value: Json): CanonicalJson {
  return write(value) as CanonicalJson;
}

/**
 * Object members in the order of their UTF-16 code units. The text is put together here rather than by
 * `JSON.stringify` of a sorted object, because JavaScript moves integer-like member names to the front.
 * Lone surrogates, which the RFC does not admit, become U+FFFD; of two names that become the same, the last one stays.
 */
function write(value: Json): string {
  if (typeof value === 'string') return JSON.stringify(value.toWellFormed());
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (isArray(value)) return `[${value.map(write).join(',')}]`;
  const members = new Map<string, string>();
  for (const [name, member] of Object.entries(value)) {
    if (member !== undefined) members.set(name.toWellFormed(), write(member));
  }
  const names = [...members.keys()].sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${members.get(name)}`).join(',')}}`;
}

function isArray(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
