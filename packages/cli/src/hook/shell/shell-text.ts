/** The text is not a command line that this code understands. */
export class Unreadable extends Error {}

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

/** A place in a text. */
export class ShellText {
  readonly text: string;
  readonly budget: Budget;
  at = 0;
  #depth: number;

  constructor(text: string, budget: Budget, depth = 0) {
    budget.spendCharacters(text.length);
    if (text.includes('\0')) throw new Unreadable('it holds a NUL character');
    this.text = text;
    this.budget = budget;
    this.#depth = depth;
  }

  get done(): boolean {
    return this.at >= this.text.length;
  }

  get depth(): number {
    return this.#depth;
  }

  /** The character at this place, or empty at the end. */
  peek(ahead = 0): string {
    return this.text[this.at + ahead] ?? '';
  }

  starts(with_: string): boolean {
    return this.text.startsWith(with_, this.at);
  }

  take(count = 1): string {
    const taken = this.text.slice(this.at, this.at + count);
    this.at += count;
    return taken;
  }

  takeIf(wanted: string): boolean {
    if (!this.starts(wanted)) return false;
    this.at += wanted.length;
    return true;
  }

  expect(wanted: string): void {
    if (!this.takeIf(wanted)) throw new Unreadable(`"${wanted}" is missing`);
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

  /** Skips blanks, line continuations and a comment. Not newlines, which end commands. */
  skipBlanks(): void {
    for (;;) {
      if (this.peek() === ' ' || this.peek() === '\t') this.at++;
      else if (this.starts('\\\n')) this.at += 2;
      else break;
    }
    if (this.peek() !== '#') return;
    const end = this.text.indexOf('\n', this.at);
    this.at = end < 0 ? this.text.length : end;
  }
}
