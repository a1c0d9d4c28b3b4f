import type { Word } from './word.ts';

export const reservedWords: ReadonlySet<string> = new Set(
  'if then else elif fi for while until do done case esac select function time coproc { } ! [['.split(' '),
);

/** Of these, the ones that only bash knows. */
export const reservedByBash: ReadonlySet<string> = new Set('select function time coproc [['.split(' '));

export function isFunctionName(word: Word | undefined): word is Word {
  return word?.plain === true && /^[\w.:@/-]+$/.test(word.text) && !reservedWords.has(word.text);
}
