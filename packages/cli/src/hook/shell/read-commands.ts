import { expandBraces } from './brace-expansion.ts';
import type { Assignment, FoundCommand, Redirection } from './found-command.ts';
import { assignmentEnd } from './found-command.ts';
import type { Grammar } from './read-compound.ts';
import { isOpener, readCompound, readCoprocess, readFunction, readFunctionBody } from './read-compound.ts';
import { Redirections, redirectionAt } from './read-redirection.ts';
import { readWord } from './read-word.ts';
import type { Budget } from './shell-text.ts';
import { ShellText, Unreadable } from './shell-text.ts';
import type { Cell, Word } from './word.ts';
import { unknownWord, wordOf } from './word.ts';

/** What a text holds, as far as it was understood. */
export interface Found {
  readonly commands: FoundCommand[];
  readonly doubts: string[];
}

export const reserved: ReadonlySet<string> = new Set(
  'if then else elif fi for while until do done case esac select function time coproc { } ! [['.split(' '),
);

/** Reads all commands of a text. What was found before an error stays, and the error becomes a doubt. */
export function readCommands(source: string, budget: Budget, found: Found, depth = 0): void {
  try {
    new CommandReader(new ShellText(source, budget, depth), found).readAll();
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    found.doubts.push(error.message);
  }
}

/** Reads one text by the grammar of POSIX and bash. Commands inside of expansions count like all others. */
class CommandReader implements Grammar {
  readonly text: ShellText;
  readonly #found: Found;
  readonly #redirections: Redirections;
  #repeated = 0;

  constructor(text: ShellText, found: Found) {
    this.text = text;
    this.#found = found;
    this.#redirections = new Redirections(text, this);
  }

  readAll(): void {
    this.list(() => false);
    if (!this.text.done) throw new Unreadable(`"${this.text.peek()}" is not expected`);
  }

  commands(text: ShellText): void {
    // The text of a here-document is another one.
    if (text !== this.text) new CommandReader(text, this.#found).commands(text);
    else {
      this.list(() => text.peek() === ')');
      text.expect(')');
    }
  }

  source(source: string, depth: number): void {
    this.text.deeper(() => new CommandReader(new ShellText(source, this.text.budget, depth), this.#found).readAll());
  }

  doubt(reason: string): void {
    this.#found.doubts.push(reason);
  }

  list(isEnd: () => boolean): void {
    const { text } = this;
    for (;;) {
      this.skipLines();
      if (text.done || isEnd()) return;
      this.#pipelines();
      text.skipBlanks();
      if (text.done || isEnd()) return;
      if (text.peek() === ';' && /[;&]/.test(text.peek(1))) throw new Unreadable('";;" is not expected');
      if (text.peek() === ';' || text.peek() === '&') text.take();
      else if (text.peek() !== '\n') throw new Unreadable(`"${text.peek()}" is not expected`);
    }
  }

  listUntil(...words: readonly string[]): string {
    this.list(() => words.includes(this.reserved() ?? ''));
    const word = this.reserved();
    if (word === undefined || !words.includes(word)) throw new Unreadable(`"${words.join('" or "')}" is missing`);
    this.text.take(word.length);
    return word;
  }

  command(): void {
    const { text } = this;
    text.skipBlanks();
    const word = text.peek() === '(' ? '(' : this.reserved();
    if (word === undefined) this.#simple();
    else if (word === '!' || word === 'time') this.#prefix(word);
    else if (isOpener(word)) {
      text.take(word.length);
      text.deeper(() => readCompound(this, word));
      this.#record([], [], this.#trailing());
    } else if (word === 'function' || word === 'coproc') {
      text.take(word.length);
      if (word === 'function') readFunction(this);
      else readCoprocess(this);
    } else throw new Unreadable(`"${word}" is not expected`);
  }

  skipLines(): void {
    for (;;) {
      this.text.skipBlanks();
      if (this.text.peek() !== '\n') return;
      this.#redirections.newline();
    }
  }

  reserved(): string | undefined {
    const near = this.text.text.slice(this.text.at, this.text.at + 10);
    const [word = ''] = /^(?:[a-z]+|[{}!]|\[\[)(?=[\s;&|()<>]|$)/.exec(near) ?? [];
    return reserved.has(word) ? word : undefined;
  }

  words(acrossLines: boolean): void {
    for (;;) {
      if (acrossLines) this.skipLines();
      else this.text.skipBlanks();
      if (readWord(this.text, this) === undefined) return;
    }
  }

  repeatedly<Result>(work: () => Result): Result {
    this.#repeated++;
    try {
      return work();
    } finally {
      this.#repeated--;
    }
  }

  #pipelines(): void {
    const { text } = this;
    for (;;) {
      this.command();
      text.skipBlanks();
      const joined = ['&&', '||', '|&', '|'].find((operator) => text.starts(operator));
      if (joined === undefined) return;
      text.take(joined.length);
      this.skipLines();
    }
  }

  #prefix(word: string): void {
    const { text } = this;
    const start = text.at;
    text.take(word.length);
    text.skipBlanks();
    if (word === 'time' && /^-p(?=\s)/.test(text.text.slice(text.at, text.at + 3))) text.take(2);
    text.skipBlanks();
    // Options of the program of that name.
    if (word === 'time' && text.peek() === '-') {
      text.at = start;
      this.#simple();
    } else if (!text.done && !/[\n;]/.test(text.peek())) text.deeper(() => this.command());
  }

  #simple(): void {
    const { text } = this;
    const words: Word[] = [];
    const assignments: Assignment[] = [];
    const redirections: Redirection[] = [];
    const start = text.at;
    let descriptor = '';
    for (;;) {
      text.skipBlanks();
      const operator = redirectionAt(text);
      if (operator !== undefined) {
        redirections.push(this.#redirections.read(operator, descriptor));
        descriptor = '';
        continue;
      }
      const cells = readWord(text, this);
      if (cells === undefined) break;
      if (isDescriptor(cells) && redirectionAt(text) !== undefined && !text.starts('&')) {
        descriptor = wordOf(cells).text;
        continue;
      }
      const assigned = words.length === 0 ? assignmentEnd(cells) : undefined;
      if (assigned !== undefined) assignments.push(this.#assignment(cells, assigned));
      else words.push(...expanded(cells));
    }
    if (text.at === start) throw new Unreadable(`"${text.peek()}" is not expected`);
    if (text.peek() === '(') this.#functionOrError(words, assignments);
    else this.#record(words, assignments, redirections);
  }

  #functionOrError(words: readonly Word[], assignments: readonly Assignment[]): void {
    const isDefinition = words.length === 1 && assignments.length === 0 && words[0]?.unknown === false;
    this.text.take();
    this.text.skipBlanks();
    if (!isDefinition || !this.text.takeIf(')')) throw new Unreadable('"(" is not expected');
    readFunctionBody(this);
  }

  #assignment(cells: readonly Cell[], { name, end }: { name: string; end: number }): Assignment {
    if (end === cells.length && this.text.takeIf('(')) {
      this.words(true);
      this.text.expect(')');
    }
    return { name, value: wordOf(cells.slice(end)) };
  }

  #trailing(): Redirection[] {
    const redirections: Redirection[] = [];
    for (;;) {
      this.text.skipBlanks();
      const start = this.text.at;
      while (/\d/.test(this.text.peek())) this.text.take();
      const descriptor = this.text.text.slice(start, this.text.at);
      const operator = redirectionAt(this.text);
      if (operator === undefined) {
        this.text.at = start;
        return redirections;
      }
      redirections.push(this.#redirections.read(operator, descriptor));
    }
  }

  #record(words: readonly Word[], assignments: readonly Assignment[], redirections: readonly Redirection[]): void {
    const [first] = words;
    if (first?.plain === true && first.text !== 'time' && reserved.has(first.text))
      throw new Unreadable(`"${first.text}" is not expected`);
    if (words.length + assignments.length + redirections.length === 0) return;
    this.text.budget.spendCommand();
    this.#found.commands.push({ words, assignments, redirections, isRepeated: this.#repeated > 0 });
  }
}

function expanded(cells: readonly Cell[]): Word[] {
  const words = expandBraces(cells);
  if (words === undefined) return [{ ...unknownWord(wordOf(cells)), isMany: true }];
  // An empty alternative without quotes leaves no word behind.
  return words.filter(({ length }) => length > 0).map(wordOf);
}

/** `2` and `{name}` before an operator say which descriptor is redirected. */
function isDescriptor(cells: readonly Cell[]): boolean {
  const { text, plain } = wordOf(cells);
  return plain && /^(?:\d+|\{\w+\})$/.test(text);
}
