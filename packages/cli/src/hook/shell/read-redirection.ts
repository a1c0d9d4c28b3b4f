import type { Redirection } from './found-command.ts';
import type { Inside } from './read-word.ts';
import { readHereDocument, readWord } from './read-word.ts';
import type { ShellText } from './shell-text.ts';
import { Unreadable } from './shell-text.ts';
import { wordOf } from './word.ts';

const operators = ['&>>', '&>', '<<<', '<<-', '<<', '<&', '<>', '<', '>>', '>&', '>|', '>'] as const;

/** The operator at this place. `<(` and `>(` begin a word. */
export function redirectionAt(text: ShellText): string | undefined {
  const operator = operators.find((one) => text.starts(one));
  if ((operator === '<' || operator === '>') && text.peek(1) === '(') return undefined;
  return operator;
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
    text.take(operator.length);
    text.skipBlanks();
    const cells = readWord(text, this.#inside);
    if (cells === undefined) throw new Unreadable(`"${operator}" leads nowhere`);
    const word = wordOf(cells);
    if (operator !== '<<' && operator !== '<<-') return { operator, descriptor, target: word };
    const redirection: Redirection = { operator, descriptor, target: undefined };
    const isQuoted = cells.some(({ quoted }) => quoted);
    this.#pending.push({ redirection, delimiter: word.text, isQuoted, stripsTabs: operator === '<<-' });
    return redirection;
  }

  /** Takes a newline, and the bodies of here-documents after it. */
  newline(): void {
    this.#text.take();
    const pending = this.#pending;
    this.#pending = [];
    for (const one of pending) this.#readBody(one);
  }

  #readBody({ redirection, delimiter, isQuoted, stripsTabs }: Pending): void {
    const text = this.#text;
    const lines: string[] = [];
    while (!text.done) {
      const end = text.text.indexOf('\n', text.at);
      const line = text.text.slice(text.at, end < 0 ? undefined : end);
      text.at = end < 0 ? text.text.length : end + 1;
      const stripped = stripsTabs ? line.replace(/^\t+/, '') : line;
      if (stripped === delimiter) break;
      lines.push(stripped);
    }
    const body = lines.map((line) => `${line}\n`).join('');
    const hasExpansion = !isQuoted && readHereDocument(body, text, this.#inside).hasExpansion;
    redirection.document = { text: isQuoted ? body : unescaped(body), hasExpansion };
  }
}

/** Without quotes a backslash goes before `$`, a backtick, another one and a newline. */
function unescaped(body: string): string {
  return body.replaceAll(/\\([$`\\])/g, '$1').replaceAll('\\\n', '');
}
