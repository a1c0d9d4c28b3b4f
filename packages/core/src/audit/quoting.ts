import type { Programs } from './secret-options.ts';

/** A text between quotes or in parentheses. It is part of a word, and may hold commands of its own. */
interface Level {
  /** The quote with the backslashes before it, `(`, or nothing for the text itself. */
  readonly opener: string;
  /** Programs called by the present command of this level. */
  own: Programs;
  /** Programs of the commands around it, whose options may be in quotes. */
  around: Programs;
  /** Where its content begins. */
  readonly start: number;
}

/**
 * The open quotes and parentheses. The end of a command ends it in its own level only. Not all texts are shell, so a
 * level may be misjudged. Therefore a closed level leaves its programs to the level around it.
 */
export class Quoting {
  readonly #levels: Level[] = [];
  #top: Level;
  #called: Programs;

  constructor(programs: Programs) {
    this.#called = programs;
    this.#top = { opener: '', own: 0, around: programs, start: -1 };
    this.#levels.push(this.#top);
  }

  get programs(): Programs {
    return this.#top.own | this.#top.around;
  }

  /** The programs of all commands so far. */
  get called(): Programs {
    return this.#called;
  }

  get opener(): string {
    return this.#top.opener;
  }

  /** Whether a word at this index is the first of a quotation. */
  isQuotedFrom(index: number): boolean {
    return this.#top.start === index && this.#top.opener !== '(';
  }

  open(opener: string, start: number): void {
    this.#top = { opener, own: 0, around: this.programs, start };
    this.#levels.push(this.#top);
  }

  /**
   * Whether this quote closes an open one. Parentheses have quotes of their own. Open quotes differ in their
   * backslashes, so a long search needs a long text.
   */
  encloses(quote: string): boolean {
    for (let at = this.#levels.length - 1; at > 0; at--) {
      const opener = this.#levels[at]?.opener;
      if (opener === quote) return true;
      if (opener === '(') return false;
    }
    return false;
  }

  /** Closes the level and all levels left open in it. If doubtful, its programs outlast the command around it. */
  close(opener: string, isDoubtful = false): void {
    for (;;) {
      const { opener: closed, own } = this.#top;
      const around = this.#levels.at(-2);
      if (around === undefined) return;
      this.#levels.pop();
      around.own |= own;
      if (isDoubtful) around.around |= own;
      this.#top = around;
      if (closed === opener) return;
    }
  }

  call(programs: Programs): void {
    this.#called |= programs;
    this.#top.own |= programs;
  }

  endCommand(): void {
    this.#top.own = 0;
  }

  /** Ends programs. An option may be in quotes and its program before them, but no further out. */
  leave(programs: Programs): void {
    this.#called &= ~programs;
    for (const level of this.#levels.slice(-2)) {
      level.own &= ~programs;
      level.around &= ~programs;
    }
  }
}

/** A value of an option in a text, with its quotes. */
export interface ValueSpan {
  readonly end: number;
  /** Where another command may begin in the value. Hidden text is scanned, too. */
  readonly resume: number;
  /** The quote around the last part, if that part reaches the end of the value. */
  readonly quote: string;
  readonly quoteAt: number;
}

const part = /'\\*"'\\*"'|'\\+''|\\*["'`]|\\+(?:\r?\n|[^\\])?|\$?\(|\)|\s+|[;|&]|[^\s"'`\\();|&$]+|\$/y;

/**
 * Whether a shell takes what follows a quote as part of the value. Punctuation may follow a quoted command in other
 * languages.
 */
export function isGlued(text: string, end: number): boolean {
  return /[^\s,;:.)\]}|&<>]/.test(text.charAt(end));
}

/** `quoted`: in quotes together with its option. `item`: in its own quotes, as the next item of a list. */
export type ValueForm = 'bare' | 'quoted' | 'item';

/**
 * A value ends at the next blank outside of quotes and substitutions, whatever it contains. A value that is quoted
 * together with its option ends with those quotes.
 */
export function valueFrom(text: string, start: number, quoting: Quoting, form: ValueForm): ValueSpan {
  let isQuoted = form === 'quoted';
  let at = start;
  let depth = 0;
  let resume = -1;
  let quote = '';
  let quoteAt = -1;
  while (at < text.length) {
    part.lastIndex = at;
    const found = part.exec(text)?.[0] ?? text.charAt(at);
    const last = found.charAt(found.length - 1);
    const next = at + found.length;
    if (isQuote(last) && !isApostrophe(text, next - 1)) {
      if (quoting.encloses(found)) {
        if (!isGlued(text, next)) break;
        quoting.close(found);
        isQuoted = false;
        // The text before the closed quote must not be scanned again.
        resume = -1;
        at = next;
        continue;
      }
      quote = found;
      quoteAt = at;
      at = endOfQuotation(text, next, found);
      if (form === 'item' && quoteAt === start && /[,)\]}]/.test(text.charAt(at))) break;
      continue;
    }
    if (/\s/.test(last) && !found.startsWith('\\') && depth === 0 && !isQuoted) break;
    if (found === ')' && depth === 0 && quoting.opener === '(' && /^[\s)"'`]?$/.test(text.charAt(next))) break;
    if (found === '$(' || (found === '(' && depth > 0)) depth++;
    else if (found === ')' && depth > 0) depth--;
    else if (resume < 0 && depth === 0 && /^(?:[;|&()]|\\+[nrt])$/.test(found)) resume = at;
    quote = '';
    at = next;
  }
  return { end: at, resume: resume < 0 ? at : resume, quote, quoteAt };
}

export function isQuote(character: string): boolean {
  return character === '"' || character === "'" || character === '`';
}

/** The position after the next quote with as many backslashes, or the end of the text. */
function endOfQuotation(text: string, start: number, quote: string): number {
  let at = text.indexOf(quote, start);
  while (at > start && text.charAt(at - 1) === '\\') at = text.indexOf(quote, at + 1);
  return at < 0 ? text.length : at + quote.length;
}

const apostrophe = /(?<![^\s("'])[A-Za-z]{1,16}'(?:s|t|re|ve|ll|d|m)(?![^\s.,;:!?)"])/y;

/** Whether this is an apostrophe as in `don't`, which opens no quotation. */
export function isApostrophe(text: string, index: number): boolean {
  if (text.charAt(index) !== "'" || !/[A-Za-z]/.test(text.charAt(index - 1))) return false;
  let start = index;
  while (start > index - 16 && /[A-Za-z]/.test(text.charAt(start - 1))) start--;
  apostrophe.lastIndex = start;
  return apostrophe.test(text);
}
