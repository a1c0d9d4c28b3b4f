import type { Programs } from './secret-options.ts';

/** What stands between two quotes, or in parentheses: a part of a word, and perhaps commands of its own. */
interface Level {
  /** The quote with the backslashes before it, `(`, or nothing for the text itself. */
  readonly opener: string;
  /** Programs called by the present command of this level. */
  own: Programs;
  /** Those of the commands around it, whose options may stand in quotes. */
  around: Programs;
  /** Where its content begins. */
  readonly start: number;
}

/**
 * The quotes and parentheses that are open. What ends a command ends it in its own level only. As texts are not all
 * shell, a level may be misjudged: so a closed one leaves its programs to the level around it.
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

  /** Those of all commands so far. */
  get called(): Programs {
    return this.#called;
  }

  get opener(): string {
    return this.#top.opener;
  }

  /** Whether a word that begins here is the first of a quotation. */
  isQuotedFrom(index: number): boolean {
    return this.#top.start === index && this.#top.opener !== '(';
  }

  open(opener: string, start: number): void {
    this.#top = { opener, own: 0, around: this.programs, start };
    this.#levels.push(this.#top);
  }

  /** Whether this quote closes an open one. Parentheses have quotes of their own. Each look is paid for by its length. */
  encloses(quote: string): boolean {
    for (let at = this.#levels.length - 1; at > 0; at--) {
      const opener = this.#levels[at]?.opener;
      if (opener === quote) return true;
      if (opener === '(') return false;
    }
    return false;
  }

  /** Closes the level, and all that were left open in it. In doubt, its commands go on whatever follows. */
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

  /** The option may stand in quotes, and its program before them. Further out nobody puts it. */
  leave(programs: Programs): void {
    this.#called &= ~programs;
    for (const level of this.#levels.slice(-2)) {
      level.own &= ~programs;
      level.around &= ~programs;
    }
  }
}
