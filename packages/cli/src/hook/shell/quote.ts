/** The words as one line that a POSIX shell splits into the same words again. */
export function joinWords(words: readonly string[]): string {
  return words.map(quoteWord).join(' ');
}

export function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) && !/^[\w]+\+?=/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
