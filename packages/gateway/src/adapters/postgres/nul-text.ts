/**
 * PostgreSQL holds every character but U+0000, so U+0001 is an escape: U+0001 is written as U+0001 '1', and U+0000 as
 * U+0001 '0'. Any other text is written as it is.
 */
export const escape = '\u0001';
const special = new RegExp(`[\\0${escape}]`);
const specials = new RegExp(special, 'g');
const escaped = new RegExp(`${escape}([01])`, 'g');

/** A text as PostgreSQL can hold it. */
export function storable(text: string): string {
  return special.test(text) ? text.replace(specials, (found) => `${escape}${found === escape ? 1 : 0}`) : text;
}

/** The text that `storable` was given. */
export function original(text: string): string {
  return text.includes(escape) ? text.replace(escaped, (_, which) => (which === '1' ? escape : '\0')) : text;
}
