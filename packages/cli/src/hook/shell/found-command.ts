import type { Dialect } from './shell-text.ts';
import type { Word } from './word.ts';

/** A redirection of a command. */
export interface Redirection {
  /** Without the number before it. */
  readonly operator: string;
  /** The number before it, or `{name}`. Empty if there is none. */
  readonly descriptor: string;
  /** The file, the number, or the text of `<<<`. Undefined for a here-document. */
  readonly target: Word | undefined;
  /** Of a here-document. Known once the line has ended. */
  document?: { readonly text: string; readonly hasExpansion: boolean };
}

export interface Assignment {
  readonly name: string;
  /** Undefined if it is known only when it runs. */
  readonly value: Word | undefined;
  readonly isArray?: boolean;
}

/** A command as it stands in the text. A compound command with redirections leaves one without words. */
export interface FoundCommand {
  readonly words: readonly Word[];
  readonly assignments: readonly Assignment[];
  readonly redirections: readonly Redirection[];
  /** In a loop or a function: it may run several times. */
  readonly isRepeated: boolean;
}

/** What a text holds, as far as it was understood. */
export interface Found {
  readonly dialect: Dialect;
  readonly commands: FoundCommand[];
  readonly doubts: string[];
  /** Variables that arithmetic evaluates. */
  readonly evaluated: string[];
  /** Whether arithmetic takes what programs print. */
  hasNumbers: boolean;
  hasFunctions: boolean;
}
