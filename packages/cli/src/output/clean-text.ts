/**
 * Characters that a terminal acts on instead of showing them: C0 and C1 controls, DEL, line and paragraph separators,
 * and direction marks, which can disguise text as other text.
 */
// oxlint-disable-next-line no-control-regex
const acting = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Makes foreign text safe for a terminal: line breaks and tabs become spaces, and control characters are removed. */
export function cleanText(text: string): string {
  return text.replaceAll(/[\t\r\n]+/g, ' ').replaceAll(acting, '');
}

/** The same for text of several lines. */
export function cleanLines(text: string): string {
  return text.split('\n').map(cleanText).join('\n');
}

/** Escapes such characters in JSON. The value stays the same. */
export function escapeControls(json: string): string {
  return json.replaceAll(acting, (character) =>
    character === '\n' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
