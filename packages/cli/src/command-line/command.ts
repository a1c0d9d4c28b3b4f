import type { Shell } from '../shell.ts';

/** What a value names, so that completion can offer existing names. */
export type Completes = LookedUp | 'file' | readonly string[];

/** Names that completion looks up. */
export type LookedUp = 'context' | 'op' | 'agent' | 'key' | 'approval' | 'grant' | 'policy';

/** An option. Its key is in camelCase, its flag on the command line in kebab-case. */
export interface Option<Value = unknown> {
  readonly summary: string;
  /** Stands for the value in help. An option without one is a switch. */
  readonly placeholder?: string;
  /** One letter. */
  readonly short?: string;
  /** Other names, in kebab-case. Help does not show them. */
  readonly aliases?: readonly string[];
  readonly completes?: Completes;
  /** Converts the given texts, in order. A switch gets one empty text per occurrence. */
  read(texts: readonly string[], flag: string): Value;
}

export interface Argument<Value = unknown> {
  readonly summary: string;
  readonly isOptional: boolean;
  readonly completes?: Completes;
  read(text: string | undefined, name: string): Value;
}

export type OptionSet = Readonly<Record<string, Option>>;
export type ArgumentSet = Readonly<Record<string, Argument>>;

type ValuesOf<Set> = {
  readonly [Name in keyof Set]: Set[Name] extends { read(...args: never[]): infer Value } ? Value : never;
};

/** The options that every command takes. */
export interface GlobalValues {
  readonly apiKey: string | undefined;
  readonly context: string | undefined;
  readonly apiUrl: string | undefined;
  readonly output: OutputFormat;
  /** Whether tables show every column whole, however narrow the terminal is. */
  readonly isWide: boolean;
  readonly timeout: number;
}

export const outputFormats = ['table', 'json', 'yaml'] as const;
export type OutputFormat = (typeof outputFormats)[number];

export interface Input<Options = unknown, Arguments = unknown> {
  readonly options: ValuesOf<Options>;
  readonly args: ValuesOf<Arguments>;
  /** The words after the arguments, for commands that take any number. */
  readonly rest: readonly string[];
  readonly globals: GlobalValues;
}

export interface Command<Options extends OptionSet = OptionSet, Arguments extends ArgumentSet = ArgumentSet> {
  /** Further paragraphs after the summary. */
  readonly details?: readonly string[];
  /** In order. Help shows the names in capitals. */
  readonly args: Arguments;
  /** Takes any number of further words, such as a command after `--`. */
  readonly rest?: { readonly placeholder: string; readonly summary: string };
  readonly options: Options;
  /** A command, and what it does. */
  readonly examples: readonly (readonly [command: string, what: string])[];
  /** Further text for the end of the help. */
  readonly appendix?: string;
  /** Returns the exit code. */
  run(input: Input<Options, Arguments>, shell: Shell): Promise<number>;
}

/** Lets the compiler infer the types of options and arguments from the definition. */
export function defineCommand<const Options extends OptionSet, const Arguments extends ArgumentSet>(
  command: Command<Options, Arguments>,
): Command<Options, Arguments> {
  return command;
}

/** A command in the table. Its code is loaded on demand, so that other commands start without it. */
export interface CommandEntry {
  readonly summary: string;
  readonly load: () => Promise<Command>;
}

export interface GroupEntry {
  readonly summary: string;
  readonly commands: CommandTable;
}

/** A group may hold groups, and may be a command itself. */
export interface CommandTable {
  readonly [name: string]: CommandEntry | GroupEntry;
}

/** Converts `dryRun` to its typed form `dry-run`. */
export function kebabCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
