import { visibleText } from '@reeve/contract/visible-text';

/** Makes foreign text safe for a terminal: line breaks and tabs become spaces, and control characters are removed. */
export function cleanText(text: string): string {
  return visibleText(text.replaceAll(/[\t\r\n]+/g, ' ').replaceAll(/\p{Cc}/gu, ''));
}

/** The same for text of several lines. */
export function cleanLines(text: string): string {
  return text.split('\n').map(cleanText).join('\n');
}

/** Escapes control characters and hidden ones in JSON. The value stays the same. */
export function escapeControls(json: string): string {
  return visibleText(json, (character) =>
    Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
      .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
      .join(''),
  );
}
