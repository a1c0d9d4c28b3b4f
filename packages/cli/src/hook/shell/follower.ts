import type { Dialect } from './shell-text.ts';
import type { Word } from './word.ts';
import { literal } from './word.ts';

/** The standard input of a command, if the text itself holds it. */
export type Input = { readonly text: string; readonly isCertain: boolean } | undefined;

/** Who follows what a command runs. */
export interface Follower {
  /** A command runs these words. */
  run(words: readonly Word[], input: Input): void;
  /** A shell reads this text: the same one for builtins, `sh` for other commands, unless it is said. */
  read(source: string, dialect?: Dialect): void;
  /** Something runs that cannot be read. */
  doubt(note: string, args?: readonly string[]): void;
  /** The environment of a command gets a variable. */
  export(name: string, value: Word | undefined, command: readonly Word[]): void;
  /** The folder changes. */
  move(operands: readonly Word[] | undefined): void;
}

/** A text that a shell reads again. With an expansion in it, it is not the text that the shell gets. */
export function readText(word: Word | undefined, follower: Follower, dialect?: Dialect): void {
  if (word === undefined) return;
  if (word.unknown || word.isGlob) follower.doubt('a shell reads a text that is known only when it runs', [word.text]);
  follower.read(word.text, dialect);
}

export function readJoined(words: readonly Word[], follower: Follower): void {
  const text = words.map((word) => word.text).join(' ');
  const isUnknown = words.some(({ unknown, isGlob }) => unknown || isGlob);
  readText({ ...literal(text), unknown: isUnknown }, follower);
}
