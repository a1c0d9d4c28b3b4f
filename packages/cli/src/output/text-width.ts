/** Characters of two columns: East Asian wide and full-width characters, and emoji. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
/** Characters of no column: combining marks and joiners. */
const hidden = /[\p{M}\u200b-\u200d\u2060\ufeff]/u;

/** How many terminal columns a text takes. */
export function textWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += widthOf(character);
  return width;
}

/** Fits the text into this many columns, with an ellipsis for what is cut. */
export function fitText(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  let taken = 0;
  let kept = '';
  for (const character of text) {
    taken += widthOf(character);
    if (taken > width - 1) break;
    kept += character;
  }
  return `${kept}…`;
}

function widthOf(character: string): number {
  if (hidden.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
}
