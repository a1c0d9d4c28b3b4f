import type { Redirection } from './found-command.ts';
import type { Inside } from './grammar.ts';
import { readQuotedPiece, readWord } from './read-word.ts';
import { ShellText, Unreadable } from './shell-text.ts';
import { wordOf } from './word.ts';

const operators = ['&>>', '&>', '<<<', '<<-', '<<', '<&', '<>', '<', '>>', '>&', '>|', '>'] as const;

/** The operator at this place. `<(` and `>(` begin a word. */
export function redirectionAt(text: ShellText): string | undefined {
  if (/^[<>]\($/.test(text.ahead(2))) return undefined;
  const ahead = text.ahead(3);
  return operators.find((one) => ahead.startsWith(one));
}

/** A here-document whose body begins on the next line. */
interface Pending {
  readonly redirection: Redirection;
  readonly delimiter: string;
  readonly isQuoted: boolean;
  readonly stripsTabs: boolean;
}

/** Reads redirections, and the here-documents that they announce. */
export class Redirections {
  readonly #text: ShellText;
  readonly #inside: Inside;
  #pending: Pending[] = [];

  constructor(text: ShellText, inside: Inside) {
    this.#text = text;
    this.#inside = inside;
  }

  read(operator: string, descriptor: string): Redirection {
    const text = this.#text;
    if (/^(?:&|<<<)/.test(operator)) text.onlyBash(operator);
    text.take(operator.length);
    text.skipBlanks();
    if (operator === '<<' || operator === '<<-') return this.#announced(operator, descriptor);
    const cells = readWord(text, this.#inside);
    if (cells === undefined) throw new Unreadable(`"${operator}" leads nowhere`);
    const target = wordOf(cells);
    // bash expands this word twice if it is no number.
    if (operator.endsWith('&') && !/^[\w./+@%=:-]+$/.test(target.text))
      throw new Unreadable('a redirection to a place that is known only when it runs');
    return { operator, descriptor, target };
  }

  /** Takes a newline, and the bodies of here-documents after it. */
  newline(): void {
    const text = this.#text;
    if (text.waiting > this.#pending.length) throw new Unreadable('a line ends inside before a here-document begins');
    const pending = this.#pending;
    this.#pending = [];
    text.waiting = 0;
    text.take();
    for (const one of pending) this.#readBody(one);
  }

  /** Reads what is inside of an expansion, where a here-document must begin and end. */
  within<Result>(work: () => Result): Result {
    const outer = this.#pending;
    this.#pending = [];
    const result = work();
    if (this.#pending.length > 0) throw new Unreadable('a here-document has no body');
    this.#pending = outer;
    return result;
  }

  /** The delimiter is one word, plain or in quotes as a whole. */
  #announced(operator: string, descriptor: string): Redirection {
    const text = this.#text;
    const quote = /^["'\\]/.exec(text.peek())?.[0] ?? '';
    if (quote !== '') text.take();
    const from = text.at;
    let delimiter = '';
    while (/^[\w.+%@-]/.test(text.peek())) delimiter += text.take();
    if (
      delimiter === '' ||
      ((quote === '"' || quote === "'") && !text.takeIf(quote)) ||
      !/^[ \t\n;&|<>)]?$/.test(text.peek()) ||
      // Between quotes lines are not continued.
      (quote !== '' && !text.text.startsWith(`${quote}${delimiter}${quote === '\\' ? '' : quote}`, from - 1))
    )
      throw new Unreadable('the end of a here-document is not understood');
    const redirection: Redirection = { operator, descriptor, target: undefined };
    this.#pending.push({ redirection, delimiter, isQuoted: quote !== '', stripsTabs: operator === '<<-' });
    text.waiting++;
    return redirection;
  }

  #readBody({ redirection, delimiter, isQuoted, stripsTabs }: Pending): void {
    const text = this.#text;
    const lines: string[] = [];
    for (;;) {
      const line = text.takeRaw('\n');
      const stripped = stripsTabs ? line.replace(/^\t+/, '') : line;
      if (stripped === delimiter) break;
      // Shells differ in whether `EOF)` ends it, and in what a continued line does.
      if (line.trimStart().startsWith(delimiter) || (!isQuoted && line.endsWith('\\')))
        throw new Unreadable('the end of a here-document is not understood');
      lines.push(stripped);
    }
    const body = lines.map((line) => `${line}\n`).join('');
    redirection.document = isQuoted ? { text: body, hasExpansion: false } : this.#expanded(body);
  }

  /** Without quotes around its delimiter, expansions happen in it. */
  #expanded(body: string): { text: string; hasExpansion: boolean } {
    const parent = this.#text;
    const text = new ShellText(body, parent.budget, parent.dialect, parent.depth + 1);
    const cells = [];
    while (!text.done) cells.push(...readQuotedPiece(text, this.#inside, ''));
    const { text: content, unknown } = wordOf(cells);
    return { text: content, hasExpansion: unknown };
  }
}
