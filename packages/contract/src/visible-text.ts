/**
 * What a reader does not see, or what turns the direction of a text round: controls, format characters such as U+202E,
 * separators of lines, all that Unicode calls ignorable (fillers, tags, selectors), the blanks of Braille, music and Khitan,
 * lone surrogates, and what has no agreed look: private and unassigned code points.
 */
export const hiddenCharacter = new RegExp(
  String.raw`[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}\u{16fe4}](?<!${[
    String.raw`[\t\n\r]`,
    // What joins the parts of an emoji, or chooses its look, hides nothing.
    String.raw`\p{Extended_Pictographic}\ufe0f`,
    String.raw`[\d#*]\ufe0f(?=\u20e3)`,
    String.raw`\p{Extended_Pictographic}[\p{Emoji_Modifier}\ufe0f]?\u200d(?=\p{Extended_Pictographic})`,
  ].join('|')})`,
  'gu',
);

/**
 * A text that a person decides by. Whoever wrote it must not disguise it as another one, so its hidden characters are
 * written out, as in `<U+202E>`. Tabs and line breaks stay.
 */
export function visibleText(text: string, write: (character: string) => string = codePoint): string {
  return text.replaceAll(hiddenCharacter, (character) => write(character));
}

function codePoint(character: string): string {
  return `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`;
}
