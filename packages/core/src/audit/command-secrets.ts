import { Quoting, isApostrophe, isGlued, isQuote, valueFrom } from './quoting.ts';
import { redacted, awaitingValue, doneBy, mayHoldCommand, optionIn, programsIn, secretAt } from './secret-options.ts';
import type { Programs } from './secret-options.ts';

/**
 * A line that goes on in the next, as shells, `cmd` and PowerShell write it; a quote with the backslashes before it, or
 * with those it takes within quotes of its kind, `'\''`; a blank, also as JSON writes it; what ends a command; a
 * parenthesis; a word. Each run is entered from its beginning only.
 */
const token =
  /(?:\\+|(?<=[ \t])[`^])\r?\n|'\\*"'\\*"'|'\\+''|\\*["'`]|\\+[nrt]|[;|&()\r\n]|[^\S\r\n]+|(?:[^\s"'`;|&()\\]+|\\+[^\s"'`nrt\\])+|\\+/y;

/** What makes an `&` part of a word. */
const assignment = />|[\w.%-]{1,64}=/y;

const blank = /^(?:\s*|[`^]\s+|\\+(?:[nrt]|\r?\n)?)$/;

/** Goes through a text once, as a shell would, and into what is quoted. */
class CommandScanner {
  readonly #text: string;
  readonly #quoting: Quoting;
  /** The next word is the value of an option of these. */
  #awaiting: Programs = 0;
  /** The option stood in quotes by itself, as in a list: `"-u", "me:x"`. */
  #isListed = false;
  #shown = '';
  /** Up to where it is in what is shown, or replaced there. */
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

  /** All that were called, though their command may have ended: arguments may be more than a text tells. */
  get programs(): Programs {
    return this.#quoting.called;
  }

  /** The text as it may be shown. */
  scan(): string {
    const text = this.#text;
    let at = 0;
    while (at < text.length) {
      token.lastIndex = at;
      at = this.#next(token.exec(text)?.[0] ?? text.charAt(at), at);
    }
    return this.#shown + text.slice(this.#done);
  }

  /** Takes a token and says where the next one begins. */
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
      // This rather opens one, as where a quote before it stands for inches: the command is not to end in it.
      const isDoubtful = /\s/.test(this.#text.charAt(at - 1)) && isGlued(this.#text, end);
      this.#quoting.close(quote, isDoubtful);
      if (this.#awaiting === 0 || this.#isListed) return end;
      const awaiting = this.#awaiting;
      this.#awaiting = 0;
      return isGlued(this.#text, end) ? this.#hide(awaiting, end) : end;
    }
    if (this.#awaiting !== 0 && at >= this.#done) return this.#hide(this.#awaiting, at);
    // In single quotes a shell takes a backslash for itself: 'C:\'
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
      // The value lies within one that has been gone through: nothing is, twice.
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
    // What is no password may be the program of another command.
    if (from === end) this.#quoting.call(programsIn(value));
    if (quoteAt === start && from === start) from += quote.length;
    const isClosed =
      quote !== '' && quoteAt < from && end - quote.length >= from && text.startsWith(quote, end - quote.length);
    let to = isClosed ? end - quote.length : end;
    while (to > from && isTail(text, to, this.#quoting.opener)) to--;
    this.#replace(from, to, isClosed ? '' : openQuote(value.slice(0, from - start)));
    return resume;
  }

  /** Of an option that is hidden already, only a value behind it matters. */
  #await(programs: Programs, end: number): number {
    this.#awaiting = awaitingValue(programs);
    return end;
  }

  /** What is replaced is gone through again for commands in it, so that ranges may overlap. */
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

  /** `2>&1`, `&>`, `>|` are redirections, and `?a=1&b=2` is an address that nobody has quoted. */
  #isWithinWord(end: string, at: number): boolean {
    if (end === ';') return false;
    const before = this.#text.charAt(at - 1);
    if (before === '>' || before === '<') return true;
    assignment.lastIndex = at + 1;
    return end === '&' && assignment.test(this.#text);
  }

  /** A line that ends with a comma goes on, as in a list of one argument a line. */
  #isInList(at: number): boolean {
    return /,[ \t]{0,8}\r?$/.test(this.#text.slice(Math.max(0, at - 10), at));
  }

  /** `the users' files` */
  #isPossessive(quote: string, at: number): boolean {
    return quote === "'" && /(?:^|\s)[A-Za-z]+s'\s?$/.test(this.#text.slice(Math.max(0, at - 16), at + 2));
  }
}

/** What ends the command behind a value, or closes a substitution around it, is no part of it. */
function isTail(text: string, end: number, opener: string): boolean {
  const last = text.charAt(end - 1);
  return (/[;|&]/.test(last) || (last === ')' && opener === '(')) && text.charAt(end - 2) !== '\\';
}

/** A quote that what is shown of a value leaves open. It is closed, so that the rest still reads as it did. */
function openQuote(shown: string): string {
  const quote = /^\\*["'`]/.exec(shown)?.[0] ?? '';
  return shown.lastIndexOf(quote) > 0 ? '' : quote;
}

/** A text with the passwords in the options of commands replaced. */
export function redactCommands(text: string): string {
  return new CommandScanner(text).scan();
}

/** Whether a word that stands where a value is awaited is none. */
function isOption(word: string, awaiting: Programs): boolean {
  return word.startsWith('-') && secretAt(word, awaiting) === word.length;
}

/** The arguments of a command with the passwords in its options replaced. The program may also be one of them. */
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
      // A command may be given in one argument, or several of its words.
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
