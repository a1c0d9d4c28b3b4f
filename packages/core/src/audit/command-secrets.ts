import { redacted } from './redacted.ts';

/** Programs that take a password by an option which does not say so. */
type Program = 'curl' | 'mysql' | 'sshpass';

const programName = /^(?:.*[/\\])?(curl|mysql|mariadb|sshpass)[\w-]*(?:\.exe)?$/is;

/** The option, and what is attached to it. Letters that take no value may stand before that of curl: `-sSu`. */
const optionOf: Readonly<Record<Program, RegExp>> = {
  curl: /^(-[afgijklnpqsvBGIJLMNORSVZ0-9#]*[uU]|--(?:proxy-)?user(?:=|$))(.*)$/s,
  mysql: /^(-p)(.*)$/s,
  sshpass: /^(-p)(.*)$/s,
};

/** Goes through a command word by word. */
class CommandReader {
  #program: Program | undefined;
  /** The next word is the value of an option of this program. */
  #awaiting: Program | undefined;

  get awaitsValue(): boolean {
    return this.#awaiting !== undefined;
  }

  /** Whether the word is part of a command that matters, and not only its name. */
  concerns(word: string): boolean {
    return this.#awaiting !== undefined || (this.#program !== undefined && word.startsWith('-'));
  }

  /** The word as it may be shown. `isGlued`: no blank stands before it, as before a quoted value. */
  next(word: string, isGlued: boolean): string {
    const awaiting = this.#awaiting;
    this.#awaiting = undefined;
    // Of mysql, what comes after a blank is a database.
    if (awaiting !== undefined && (isGlued || awaiting !== 'mysql')) return this.#hide(awaiting, word);
    if (word.startsWith('-')) return this.#program === undefined ? word : this.#option(this.#program, word);
    const name = programName.exec(word)?.[1]?.toLowerCase();
    if (name !== undefined) this.#program = name === 'curl' || name === 'sshpass' ? name : 'mysql';
    return word;
  }

  /** Another command begins. */
  end(): void {
    this.#program = undefined;
    this.#awaiting = undefined;
  }

  #option(program: Program, word: string): string {
    const [, lead, value = ''] = optionOf[program].exec(word) ?? [];
    if (lead === undefined) return word;
    if (value !== '') return lead + this.#hide(program, value);
    this.#awaiting = program;
    return word;
  }

  #hide(program: Program, value: string): string {
    // What follows is the command that it runs.
    if (program === 'sshpass') this.#program = undefined;
    if (program !== 'curl') return redacted;
    const colon = value.indexOf(':');
    return colon < 0 || colon === value.length - 1 ? value : `${value.slice(0, colon + 1)}${redacted}`;
  }
}

/** A quote, escaped or not; what ends a command; a word. Each run is entered from its beginning only. */
const token = /(?<!\\)\\*["']|[|;&\r\n`]|[^\s"'`|;&\\]+(?:\\+[^\s"'`|;&\\]+)*/g;
/** A value goes on to the next blank or quote, whatever it is made of. */
const value = /(?:[^\s"'\\]|\\(?!["']))*/y;

/** A text with the passwords in the options of commands replaced. It is gone through once. */
export function redactCommands(text: string): string {
  const reader = new CommandReader();
  let shown = '';
  let done = 0;
  token.lastIndex = 0;
  for (let found = token.exec(text); found !== null; found = token.exec(text)) {
    const { 0: word, index } = found;
    const isQuote = /["']$/.test(word);
    if (isQuote && !reader.awaitsValue) continue;
    if (/^[|;&\r\n`]$/.test(word)) {
      reader.end();
      continue;
    }
    const start = isQuote ? index + word.length : index;
    const end = isQuote
      ? endOfQuoted(text, start, word)
      : reader.concerns(word)
        ? endOfValue(text, start)
        : start + word.length;
    const seen = reader.next(text.slice(start, end), index === done);
    shown += text.slice(done, start) + seen;
    done = end;
    token.lastIndex = isQuote ? end + word.length : end;
  }
  return shown + text.slice(done);
}

function endOfQuoted(text: string, start: number, close: string): number {
  const end = text.indexOf(close, start);
  return end < 0 ? text.length : end;
}

function endOfValue(text: string, start: number): number {
  value.lastIndex = start;
  return start + (value.exec(text)?.[0].length ?? 0);
}

/** The arguments of a command with the passwords in its options replaced. The program may also be one of them. */
export function redactOptions(command: string, args: readonly string[]): readonly string[] {
  const reader = new CommandReader();
  reader.next(command, false);
  return args.map((argument) => reader.next(argument, false));
}
