import { expandBraces } from './brace-expansion.ts';
import type { Assignment, Found, FoundCommand, Redirection } from './found-command.ts';
import type { Grammar } from './grammar.ts';
import { readAssignment } from './read-assignment.ts';
import { isOpener, readCompound, readCoprocess, readFunction, readFunctionBody } from './read-compound.ts';
import { printsNumbers } from './prints-numbers.ts';
import { Redirections, redirectionAt } from './read-redirection.ts';
import { readWord } from './read-word.ts';
import { isFunctionName, reservedByBash, reservedWords } from './reserved-words.ts';
import type { Budget } from './shell-text.ts';
import { ShellText, Unreadable } from './shell-text.ts';
import type { Cell, Word } from './word.ts';
import { unknownWord, wordOf } from './word.ts';

/** Reads all commands of a text. What was found before an error stays, and the error becomes a doubt. */
export function readCommands(source: string, budget: Budget, found: Found): void {
  try {
    new CommandReader(new ShellText(source, budget, found.dialect), found).readAll();
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    found.doubts.push(error.message);
  }
}

/** Reads one text by a grammar. Commands inside of expansions count like all others. Outside of it nothing is understood. */
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
    this.#redirections.within(() => this.list(() => false));
    if (!this.text.done) throw new Unreadable(`"${this.text.peek()}" is not expected`);
  }

  commands(text: ShellText): boolean {
    // The text of a here-document is another one.
    if (text !== this.text) return new CommandReader(text, this.#found).commands(text);
    return printsNumbers(this.#redirections.within(() => this.subshell()));
  }

  subshell(): readonly FoundCommand[] {
    const pipeline = this.list(() => this.text.peek() === ')');
    this.text.expect(')');
    return pipeline;
  }

  source(source: string, depth: number): void {
    const text = new ShellText(source, this.text.budget, this.text.dialect, depth);
    this.text.deeper(() => new CommandReader(text, this.#found).readAll());
  }

  evaluated(name: string): void {
    this.#found.evaluated.push(name);
  }

  counted(): void {
    this.#found.hasNumbers = true;
  }

  defined(): void {
    this.#found.hasFunctions = true;
  }

  assigned(name: string, value?: Word): void {
    this.#found.commands.push({ words: [], assignments: [{ name, value }], redirections: [], isRepeated: false });
  }

  list(isEnd: () => boolean): readonly FoundCommand[] {
    const { text } = this;
    let only: readonly FoundCommand[] | undefined;
    for (;;) {
      this.skipLines();
      if (text.done || isEnd()) return only ?? [];
      const pipeline = this.#pipelines();
      only = only === undefined ? pipeline : [];
      text.skipBlanks();
      if (text.done || isEnd()) return only;
      if (/^;[;&]/.test(text.ahead(2))) throw new Unreadable('";;" is not expected');
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

  command(): FoundCommand | undefined {
    const { text } = this;
    text.skipBlanks();
    const word = text.peek() === '(' ? '(' : this.reserved();
    if (word === undefined) return this.#simple();
    if (word === '!' || word === 'time') this.#prefix(word);
    else if (isOpener(word)) {
      text.take(word.length);
      text.deeper(() => readCompound(this, word));
      this.#record([], [], this.#trailing());
    } else if (word === 'function' || word === 'coproc') {
      text.take(word.length);
      if (word === 'function') readFunction(this);
      else readCoprocess(this);
    } else throw new Unreadable(`"${word}" is not expected`);
    return undefined;
  }

  skipLines(): void {
    for (;;) {
      this.text.skipBlanks();
      if (this.text.peek() !== '\n') return;
      this.#redirections.newline();
    }
  }

  reserved(): string | undefined {
    const [word = ''] = /^(?:[a-z]+|[{}!]|\[\[)(?=[ \t\n;&|()<>]|$)/.exec(this.text.ahead(10)) ?? [];
    if (!reservedWords.has(word)) return undefined;
    if (word === 'time' && this.text.dialect === 'posix') return undefined;
    if (reservedByBash.has(word)) this.text.onlyBash(word);
    return word;
  }

  words(acrossLines: boolean): readonly Word[] {
    const words: Word[] = [];
    for (;;) {
      if (acrossLines) this.skipLines();
      else this.text.skipBlanks();
      const cells = readWord(this.text, this);
      if (cells === undefined) return words;
      words.push(...this.#expanded(cells));
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

  /** Gives the commands of a pipeline that is alone and has no compounds. */
  #pipelines(): readonly FoundCommand[] {
    const { text } = this;
    const pipeline: FoundCommand[] = [];
    for (let isAlone = true; ; ) {
      const command = this.command();
      if (command === undefined) isAlone = false;
      else pipeline.push(command);
      text.skipBlanks();
      const joined = ['&&', '||', '|&', '|'].find((operator) => text.starts(operator));
      if (joined === undefined) return isAlone ? pipeline : [];
      if (joined !== '|') isAlone = false;
      if (joined === '|&') text.onlyBash(joined);
      text.take(joined.length);
      this.skipLines();
    }
  }

  #prefix(word: string): void {
    const { text } = this;
    const start = text.at;
    text.take(word.length);
    if (text.peek() === '(') throw new Unreadable(`"${word}(" is not understood`);
    text.skipBlanks();
    if (word === 'time' && /^-p[ \t]/.test(text.ahead(3))) text.take(2);
    text.skipBlanks();
    // Options of the program of that name.
    if (word === 'time' && text.peek() === '-') {
      text.at = start;
      this.#simple();
    } else if (!text.done && !/^[\n;]/.test(text.peek())) text.deeper(() => this.command());
  }

  #simple(): FoundCommand | undefined {
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
      const assigned = words.length === 0 ? readAssignment(this) : undefined;
      if (assigned !== undefined) {
        assignments.push(assigned);
        continue;
      }
      const cells = readWord(text, this);
      if (cells === undefined) break;
      descriptor = this.#descriptor(cells);
      if (descriptor === '') words.push(...this.#expanded(cells));
      else if (descriptor.startsWith('{')) assignments.push({ name: descriptor.slice(1, -1), value: undefined });
    }
    if (text.at === start) throw new Unreadable(`"${text.peek()}" is not expected`);
    if (text.peek() !== '(') return this.#record(words, assignments, redirections);
    this.#functionOrError(words, assignments);
    return undefined;
  }

  /** `2` and `{name}` right before an operator say which descriptor is redirected. */
  #descriptor(cells: readonly Cell[]): string {
    const { text, plain } = wordOf(cells);
    if (!/^[<>]/.test(this.text.peek())) return '';
    const isPlain = plain && /^(?:\d+|\{\w+\})$/.test(text);
    // bash takes the element of an array as well, and evaluates its subscript.
    if (!isPlain && text.startsWith('{') && text.endsWith('}'))
      throw new Unreadable('a redirection that is not understood');
    if (!isPlain) return '';
    if (redirectionAt(this.text) === undefined) throw new Unreadable('a redirection that is not understood');
    if (!/^\d$/.test(text)) this.text.onlyBash(text);
    return text;
  }

  #functionOrError(words: readonly Word[], assignments: readonly Assignment[]): void {
    const [name] = words;
    const isDefinition = words.length === 1 && assignments.length === 0 && isFunctionName(name);
    this.text.take();
    this.text.skipBlanks();
    if (!isDefinition || !this.text.takeIf(')')) throw new Unreadable('"(" is not expected');
    this.defined();
    readFunctionBody(this);
  }

  #trailing(): Redirection[] {
    const redirections: Redirection[] = [];
    for (;;) {
      this.text.skipBlanks();
      const [descriptor = ''] = /^\d(?=[<>])/.exec(this.text.ahead(2)) ?? [];
      if (descriptor !== '') this.text.take();
      const operator = redirectionAt(this.text);
      if (operator !== undefined) redirections.push(this.#redirections.read(operator, descriptor));
      else if (descriptor === '') return redirections;
      else throw new Unreadable('a redirection that is not understood');
    }
  }

  #record(
    words: readonly Word[],
    assignments: readonly Assignment[],
    redirections: readonly Redirection[],
  ): FoundCommand | undefined {
    const [first] = words;
    if (first?.plain === true && first.text !== 'time' && reservedWords.has(first.text))
      throw new Unreadable(`"${first.text}" is not expected`);
    if (words.length + assignments.length + redirections.length === 0) return undefined;
    this.text.budget.spendCommand();
    const command = { words, assignments, redirections, isRepeated: this.#repeated > 0 };
    this.#found.commands.push(command);
    return command;
  }

  #expanded(cells: readonly Cell[]): Word[] {
    const words = expandBraces(cells);
    if (words?.length !== 1) this.text.onlyBash('{a,b}');
    if (words === undefined) return [{ ...unknownWord(wordOf(cells)), isMany: true }];
    // An empty alternative without quotes leaves no word behind.
    return words.filter(({ length }) => length > 0).map(wordOf);
  }
}
