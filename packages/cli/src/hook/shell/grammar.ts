import type { FoundCommand } from './found-command.ts';
import type { ShellText } from './shell-text.ts';
import type { Word } from './word.ts';

/** Whoever reads the commands inside of words. */
export interface Inside {
  /** Reads commands up to the closing parenthesis, which is taken too. Says whether they print numbers alone. */
  commands(text: ShellText): boolean;
  /** Reads commands in a text of their own. */
  source(source: string, depth: number): void;
  /** Arithmetic evaluates what is in this variable. */
  evaluated(name: string): void;
  /** Arithmetic takes what a program prints that prints numbers alone. */
  counted(): void;
  /** A function is defined, which may take the place of a program. */
  defined(): void;
  /** A variable gets a value. Without one, it is known only when it runs. */
  assigned(name: string, value?: Word): void;
}

/** What the rules for compound commands need of the reader of commands. */
export interface Grammar extends Inside {
  readonly text: ShellText;
  /** Reads commands until an end, which stays. Gives the pipeline, if there is one alone. */
  list(isEnd: () => boolean): readonly FoundCommand[];
  /** Reads commands until one of these words, which is taken. */
  listUntil(...words: readonly string[]): string;
  /** The rest of `(…)`. */
  subshell(): readonly FoundCommand[];
  /** Gives the command, unless it is a compound. */
  command(): FoundCommand | undefined;
  /** Skips blanks, comments and newlines. */
  skipLines(): void;
  /** The reserved word at this place. */
  reserved(): string | undefined;
  /** Words without their commands: of a loop, or of an array. */
  words(acrossLines: boolean): readonly Word[];
  /** What runs in there may run several times. */
  repeatedly<Result>(work: () => Result): Result;
}
