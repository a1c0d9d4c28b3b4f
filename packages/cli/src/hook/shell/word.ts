/** One character of a word after its quotes are removed, and what the shell may still do with it. */
export interface Cell {
  /** One character, or the whole source of an expansion such as `$x` or `$(date)`. */
  readonly text: string;
  /** Quoted: no glob, no brace, no tilde. */
  readonly quoted: boolean;
  /** Stands for something that is known only when it runs. */
  readonly unknown: boolean;
  /** What a program prints there is nothing but numbers. */
  readonly isNumber?: boolean;
}

/** A word as a command gets it. */
export interface Word {
  /** With quotes removed. Expansions stay as they are written. */
  readonly text: string;
  /** Whether an expansion is part of it, so that the text is not what the command gets. */
  readonly unknown: boolean;
  /** Whether the shell would put the names of files in its place. */
  readonly isGlob: boolean;
  /** No quote and no expansion was involved: the word may be a reserved one. */
  readonly plain: boolean;
  /** Whether an expansion in it may become several words, or none. */
  readonly isMany: boolean;
  /** It is what a program prints, which is nothing but numbers. */
  readonly isNumber?: boolean;
  /** Added by a wrapper at run time, so it is not shown. */
  readonly isHidden?: boolean;
}

export function wordOf(cells: readonly Cell[]): Word {
  const [first, ...more] = cells.filter(({ text }) => text !== '');
  return {
    isNumber: more.length === 0 && first?.isNumber === true,
    text: cells.map(({ text }) => text).join(''),
    unknown: cells.some(({ unknown }) => unknown),
    isGlob: isGlob(cells.map(({ text, quoted, unknown }) => (quoted || unknown ? '' : text)).join('')),
    plain: cells.every(({ quoted, unknown }) => !quoted && !unknown),
    isMany: cells.some(({ text, quoted, unknown }) => unknown && (!quoted || text.includes('@'))),
  };
}

function isGlob(text: string): boolean {
  const open = text.indexOf('[');
  return /[*?]/.test(text) || (open >= 0 && text.lastIndexOf(']') > open);
}

export function literal(text: string): Word {
  return { text, unknown: false, isGlob: false, plain: false, isMany: false };
}

/** The same word, with content that only shows when it runs. */
export function unknownWord(word: Word): Word {
  return { ...word, unknown: true };
}
