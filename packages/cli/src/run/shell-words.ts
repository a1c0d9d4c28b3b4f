import { visibleText } from '@reeve/contract/visible-text';

/** A line that a shell reads as these words. Names of files may hold anything, and nothing of them reaches the terminal as a command. */
export function shellLine(words: readonly string[]): string {
  return words.map(quoted).join(' ');
}

function quoted(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  if (escaped(word) === word) return `'${word.replaceAll("'", String.raw`'\''`)}'`;
  return `$'${escaped(word.replaceAll(/[\\']/g, String.raw`\$&`))}'`;
}

/** Control characters and hidden ones by the numbers of their bytes. */
function escaped(text: string): string {
  const bytesOf = (character: string) =>
    [...Buffer.from(character)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('');
  return visibleText(text.replaceAll(/\p{Cc}/gu, bytesOf), bytesOf);
}
