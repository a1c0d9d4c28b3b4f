const base = 'http://gateway.invalid';

/** Control characters and space, and the backslash, which browsers take for a slash. */
const misleading = /[\p{Cc}\s\\]/u;

/** A path of this origin, in the form that a header takes. Undefined for whatever could lead elsewhere. */
export function returnPath(text: string): string | undefined {
  if (!text.startsWith('/') || text.startsWith('//') || misleading.test(text)) return undefined;
  const url = URL.parse(text, base);
  if (url === null || url.origin !== base) return undefined;
  const path = `${url.pathname}${url.search}${url.hash}`;
  // Dots are resolved by now, and may have left two slashes.
  return path.startsWith('//') ? undefined : path;
}
