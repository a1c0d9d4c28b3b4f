import { Quoting, isApostrophe, isGlued, isQuote, valueFrom } from './quoting.ts';
import { redacted, awaitingValue, doneBy, mayHoldCommand, optionIn, programsIn, secretAt } from './secret-options.ts';
import type { Programs } from './secret-options.ts';

/**
 * One of these: a line continuation of shells, `cmd` or PowerShell; a quote with the backslashes before it, or as
 * written within quotes of its kind, `'\''`; a blank, also as JSON writes it; the end of a command; a parenthesis; a
 * word. Each run matches from its beginning only.
 */
const token =
  /(?:\\+|(?<=[ \t])[`^])\r?\n|'\\*"'\\*"'|'\\+''|\\*["'`]|\\+[nrt]|[;|&()\r\n]|[^\S\r\n]+|(?:[^\s"'`;|&()\\]|\\+[^\s"'`nrt\\])+|\\+/y;

/** After an `&`, this makes the `&` part of a word. */
const assignment = />|[\w.%-]{1,64}=/y;

const blank = /^(?:\s*|[`^]\s+|\\+(?:[nrt]|\r?\n)?)$/;

/** Scans a text once, as a shell would, including what is quoted. */
class CommandScanner {
  readonly #text: string;
  readonly #quoting: Quoting;
  /** The next word is the value of an option of these programs. */
  #awaiting: Programs = 0;
  /** The option was quoted by itself, as in a list: `"-u", "me:x"`. */
  #isListed = false;
  #shown = '';
  /** The text up to here is in `#shown`, or replaced there. */
  #done = 0;
  /** The end of the last value. */
  #seen = 0;

  constructor(text: string, programs: Programs = 0) {
    this.#text = text;
    this.#quoting = new Quoting(programs);
  }

  get awaiting(): Programs {
    return this.#awaiting;
  }

  /** All programs called so far, even if their command has ended: the arguments may still be theirs. */
  get programs(): Programs {
    return this.#quoting.called;
  }

  /** The text with its passwords replaced. */
  scan(): string {
    const text = this.#text;
    let at = 0;
    while (at < text.length) {
      token.lastIndex = at;
      at = this.#next(token.exec(text)?.[0] ?? text.charAt(at), at);
    }
    return this.#shown + text.slice(this.#done);
  }

  /** Takes a token and returns where the next one begins. */
  #next(found: string, at: number): number {
    const end = at + found.length;
    if (found === '(') this.#quoting.open(found, end);
    else if (found === ')') this.#closeParenthesis();
    else if (found === ';' || found === '|' || found === '&' || found === '\n' || found === '\r')
      this.#endCommand(found, at);
    else if (blank.test(found)) return end;
    else if (isQuote(found.charAt(found.length - 1))) return this.#quote(found, at);
    else return this.#word(found, at);
    return end;
  }

  #quote(quote: string, at: number): number {
    const end = at + quote.length;
    if (isApostrophe(this.#text, end - 1)) return end;
    if (this.#quoting.encloses(quote)) {
      // This quote may rather open a quotation, for example after a quote that means inches. The command must not end
      // here.
      const isDoubtful = /\s/.test(this.#text.charAt(at - 1)) && isGlued(this.#text, end);
      this.#quoting.close(quote, isDoubtful);
      if (this.#awaiting === 0 || this.#isListed) return end;
      const awaiting = this.#awaiting;
      this.#awaiting = 0;
      return isGlued(this.#text, end) ? this.#hide(awaiting, end) : end;
    }
    if (this.#awaiting !== 0 && at >= this.#done) return this.#hide(this.#awaiting, at);
    // In single quotes a shell takes a backslash literally: 'C:\'
    if (quote.endsWith("\\'") && this.#quoting.opener === "'" && /^\s?$/.test(this.#text.charAt(end)))
      this.#quoting.close("'");
    else if (!this.#isPossessive(quote, at)) this.#quoting.open(quote, end);
    return end;
  }

  #word(word: string, at: number): number {
    const end = at + word.length;
    if (this.#isListed && /^[,:\])}]/.test(word)) {
      if (/^,+$/.test(word)) return end;
      this.#isListed = false;
      this.#awaiting = 0;
    }
    if (this.#awaiting !== 0) {
      if (at >= this.#done && !isOption(word, this.#awaiting)) return this.#hide(this.#awaiting, at);
      this.#awaiting = 0;
    }
    const option = optionIn(word, this.#quoting.programs);
    this.#quoting.call(programsIn(word));
    return option === undefined ? end : this.#hide(option.programs, at + option.valueAt, at);
  }

  /** Hides the value that begins here, or waits for it. */
  #hide(programs: Programs, start: number, optionAt = -1): number {
    const text = this.#text;
    if (start < this.#seen) {
      // The value lies within a value that was covered before. No value is covered twice.
      if (start >= this.#done && secretAt('', programs) === 0) this.#replace(start, this.#seen, '');
      return this.#await(optionAt < 0 ? 0 : programs, start);
    }
    const isQuoted = optionAt >= 0 && this.#quoting.isQuotedFrom(optionAt);
    const { end, resume, quote, quoteAt } = valueFrom(
      text,
      start,
      this.#quoting,
      isQuoted ? 'quoted' : this.#isListed ? 'item' : 'bare',
    );
    const value = text.slice(start, end);
    this.#seen = end;
    this.#isListed = false;
    if (/^(?:\\+(?:\r?\n|[nrt]))*$/.test(value)) {
      this.#await(programs, end);
      this.#isListed = isQuoted && this.#awaiting !== 0;
      return end;
    }
    this.#awaiting = 0;
    this.#quoting.leave(doneBy(programs));
    let from = start + secretAt(value, programs);
    // A value without a password may be the program of another command.
    if (from === end) this.#quoting.call(programsIn(value));
    if (quoteAt === start && from === start) from += quote.length;
    const isClosed =
      quote !== '' && quoteAt < from && end - quote.length >= from && text.startsWith(quote, end - quote.length);
    let to = isClosed ? end - quote.length : end;
    while (to > from && isTail(text, to, this.#quoting.opener)) to--;
    this.#replace(from, to, isClosed ? '' : openQuote(value.slice(0, from - start)));
    return resume;
  }

  /** If the option is hidden already, only a value after it matters. */
  #await(programs: Programs, end: number): number {
    this.#awaiting = awaitingValue(programs);
    return end;
  }

  /** Replaced text is scanned again for commands in it, so ranges may overlap. */
  #replace(from: number, to: number, close: string): void {
    if (from >= to || to <= this.#done) return;
    if (from >= this.#done) this.#shown += this.#text.slice(this.#done, from) + redacted + close;
    this.#done = to;
  }

  #closeParenthesis(): void {
    if (this.#quoting.opener === '(') this.#quoting.close('(');
  }

  #endCommand(end: string, at: number): void {
    if (end === '\n' || end === '\r' ? this.#isInList(at) : this.#isWithinWord(end, at)) return;
    this.#quoting.endCommand();
    this.#awaiting = 0;
    this.#isListed = false;
  }

  /** `2>&1`, `&>`, `>|` are redirections, and `?a=1&b=2` is an unquoted address. */
  #isWithinWord(end: string, at: number): boolean {
    if (end === ';') return false;
    const before = this.#text.charAt(at - 1);
    if (before === '>' || before === '<') return true;
    assignment.lastIndex = at + 1;
    return end === '&' && assignment.test(this.#text);
  }

  /** A line that ends with a comma continues, as in a list with one argument per line. */
  #isInList(at: number): boolean {
    return /,[ \t]{0,8}\r?$/.test(this.#text.slice(Math.max(0, at - 10), at));
  }

  /** `the users' files` */
  #isPossessive(quote: string, at: number): boolean {
    return quote === "'" && /(?:^|\s)[A-Za-z]+s'\s?$/.test(this.#text.slice(Math.max(0, at - 16), at + 2));
  }
}

/** The end of a command, or of a substitution around a value, is not part of the value. */
function isTail(text: string, end: number, opener: string): boolean {
  const last = text.charAt(end - 1);
  return (/[;|&]/.test(last) || (last === ')' && opener === '(')) && text.charAt(end - 2) !== '\\';
}

/** The quote that the shown part of a value leaves open. Closing it keeps the rest readable as before. */
function openQuote(shown: string): string {
  const quote = /^\\*["'`]/.exec(shown)?.[0] ?? '';
  return shown.lastIndexOf(quote) > 0 ? '' : quote;
}

/** Replaces the passwords in the options of commands in a text. */
export function redactCommands(text: string): string {
  return new CommandScanner(text).scan();
}

/** Whether a word in the place of a value is an option instead. */
function isOption(word: string, awaiting: Programs): boolean {
  return word.startsWith('-') && secretAt(word, awaiting) === word.length;
}

/** Replaces the passwords in the options of a command. The program may also be one of the arguments. */
export function redactOptions(command: string, args: readonly string[]): readonly string[] {
  if (!mayHoldCommand.test(command) && !args.some((argument) => mayHoldCommand.test(argument))) return args;
  const before = new CommandScanner(command);
  before.scan();
  let { programs, awaiting } = before;
  return args.map((argument) => {
    const isValue = awaiting !== 0 && !isOption(argument, awaiting);
    const option = isValue ? { programs: awaiting, valueAt: 0 } : optionIn(argument, programs);
    awaiting = 0;
    if (option === undefined) {
      // One argument may hold a whole command, or several words of it.
      const scanner = new CommandScanner(argument, programs);
      const shown = scanner.scan();
      ({ programs, awaiting } = scanner);
      return shown;
    }
    const value = argument.slice(option.valueAt);
    if (value === '' && !isValue) {
      awaiting = awaitingValue(option.programs);
      return argument;
    }
    programs &= ~doneBy(option.programs);
    const from = option.valueAt + secretAt(value, option.programs);
    return from < argument.length ? argument.slice(0, from) + redacted : argument;
  });
}
