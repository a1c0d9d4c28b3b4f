/** The text is outside of the grammar that this code understands. */
export class Unreadable extends Error {}

/** The rules of bash, or those that dash, bash and every other `sh` have in common. */
export type Dialect = 'bash' | 'posix';

const deepest = 24;

/** How much work all texts of one analysis may take together. */
export class Budget {
  #characters: number;
  #commands: number;

  constructor(characters: number, commands: number) {
    this.#characters = characters;
    this.#commands = commands;
  }

  spendCharacters(count: number): void {
    this.#characters -= count;
    if (this.#characters < 0) throw new Unreadable('too much text');
  }

  spendCommand(): void {
    if (--this.#commands < 0) throw new Unreadable('too many commands');
  }
}

const continuation = '\\\n';

/** A place in a text. Continued lines are joined: a backslash and the newline after it are not there. */
export class ShellText {
  readonly text: string;
  readonly budget: Budget;
  readonly dialect: Dialect;
  /** How many here-documents wait for their bodies, which begin after the next newline. */
  waiting = 0;
  #at = 0;
  #depth: number;

  constructor(text: string, budget: Budget, dialect: Dialect, depth = 0) {
    budget.spendCharacters(text.length);
    if (text.includes('\0')) throw new Unreadable('it holds a NUL character');
    this.text = text;
    this.budget = budget;
    this.dialect = dialect;
    this.#depth = depth;
  }

  get at(): number {
    while (this.text.startsWith(continuation, this.#at)) this.#at += continuation.length;
    return this.#at;
  }

  set at(place: number) {
    this.#at = place;
  }

  get done(): boolean {
    return this.at >= this.text.length;
  }

  get depth(): number {
    return this.#depth;
  }

  /** The character at this place, or empty at the end. */
  peek(): string {
    return this.text[this.at] ?? '';
  }

  /** The next characters, over the ends of continued lines. */
  ahead(count: number): string {
    let found = '';
    for (let at = this.at; found.length < count && at < this.text.length; ) {
      if (this.text.startsWith(continuation, at)) at += continuation.length;
      else found += this.text[at++];
    }
    return found;
  }

  starts(with_: string): boolean {
    return this.ahead(with_.length) === with_;
  }

  take(count = 1): string {
    let taken = '';
    for (let left = count; left > 0 && !this.done; left--) taken += this.text[this.#at++];
    if (this.waiting > 0 && taken.includes('\n'))
      throw new Unreadable('a line ends inside before a here-document begins');
    return taken;
  }

  /** The next character as it is, after a backslash. */
  takeEscaped(): string {
    this.take();
    if (this.#at >= this.text.length) throw new Unreadable('it ends with a backslash');
    return this.text[this.#at++] ?? '';
  }

  /** What is before a mark, as it is, and the mark. The last line of a text needs none. */
  takeRaw(mark: "'" | '\n'): string {
    const end = this.text.indexOf(mark, this.#at);
    if (end < 0 && (mark === "'" || this.#at >= this.text.length)) throw new Unreadable(`a ${mark} is missing`);
    const taken = this.text.slice(this.#at, end < 0 ? undefined : end);
    if (this.waiting > 0 && taken.includes('\n'))
      throw new Unreadable('a line ends inside before a here-document begins');
    this.#at = end < 0 ? this.text.length : end + mark.length;
    return taken;
  }

  takeIf(wanted: string): boolean {
    const is = this.starts(wanted);
    if (is) this.take(wanted.length);
    return is;
  }

  expect(wanted: string): void {
    if (!this.takeIf(wanted)) throw new Unreadable(`"${wanted}" is missing`);
  }

  /** What only bash understands. Another `sh` may read something else in it. */
  onlyBash(what: string): void {
    if (this.dialect !== 'bash') throw new Unreadable(`not every sh knows ${what}`);
  }

  /** Runs something one level deeper. */
  deeper<Result>(work: () => Result): Result {
    if (this.#depth >= deepest) throw new Unreadable('it is nested too deeply');
    this.#depth++;
    try {
      return work();
    } finally {
      this.#depth--;
    }
  }

  /** Skips blanks and a comment. Not newlines, which end commands. A comment is not continued. */
  skipBlanks(): void {
    while (this.peek() === ' ' || this.peek() === '\t') this.#at++;
    if (this.peek() !== '#') return;
    const end = this.text.indexOf('\n', this.#at);
    this.#at = end < 0 ? this.text.length : end;
  }
}
