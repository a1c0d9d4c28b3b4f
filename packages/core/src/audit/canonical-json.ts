import { remembering } from '../kernel/index.ts';

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

/** Objects of more members are sorted as a whole. */
const fewNames = 16;

/** Most objects have few members, and many have them in order already. Then each name finds its place among those before it. */
function sorted(names: string[]): string[] {
  if (names.length > fewNames) return names.sort();
  for (let next = 1; next < names.length; next++) {
    const name = names[next] ?? '';
    let at = next;
    for (; at > 0 && (names[at - 1] ?? '') > name; at--) names[at] = names[at - 1] ?? '';
    names[at] = name;
  }
  return names;
}

/** A name as it stands before its value. Undefined if it has a lone surrogate. */
const keyOf = remembering((name) => (name.isWellFormed() ? `${JSON.stringify(name)}:` : undefined), {
  longest: 100,
});

/** The canonical form of a text that is likely to come again. */
export const canonicalText = remembering((text) => canonicalJson(text), { longest: 500 });

function wellFormed(value: { readonly [member: string]: Json }): Json {
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name.toWellFormed(), member]));
}

function isArray(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
