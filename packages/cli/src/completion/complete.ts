import type { Command, CommandTable, Completes, LookedUp, Option } from '../command-line/command.ts';
import { globalOptions, helpOption } from '../command-line/global-options.ts';
import { flagsOf } from '../command-line/parse-command-line.ts';

/** What may come next on a partly typed command line. */
export interface Candidates {
  readonly words: readonly (readonly [word: string, summary: string])[];
  /** Whether the shell should offer files instead. */
  readonly files: boolean;
}

/** Looks up the existing names of a kind. */
export type LookUp = (what: LookedUp, typed: readonly string[]) => Promise<readonly string[]>;

/** Finds the candidates for the last word, which may be empty or incomplete. */
export async function complete(table: CommandTable, typed: readonly string[], lookUp: LookUp): Promise<Candidates> {
  const before = typed.slice(0, -1);
  const current = typed.at(-1) ?? '';
  let commands: CommandTable | undefined = table;
  let command: Command | undefined;
  let position = 0;
  let awaited: Option | undefined;
  for (const word of before) {
    if (awaited !== undefined) awaited = undefined;
    else if (word.startsWith('-')) awaited = valueOption(word, command);
    else if (commands !== undefined) {
      const entry: CommandTable[string] | undefined = Object.hasOwn(commands, word) ? commands[word] : undefined;
      if (entry === undefined) return none;
      commands = 'commands' in entry ? entry.commands : undefined;
      if ('load' in entry) command = await entry.load();
    } else position++;
  }
  if (awaited !== undefined) return valuesOf(awaited.completes, typed, lookUp);
  const [, name, value] = /^(--[^=]+)=(.*)$/s.exec(current) ?? [];
  if (name !== undefined && value !== undefined) {
    const option = valueOption(name, command);
    const { words, files } = await valuesOf(option?.completes, typed, lookUp);
    return { words: words.map(([word, summary]) => [`${name}=${word}`, summary] as const), files };
  }
  if (current.startsWith('-')) return { words: optionWords(command), files: false };
  if (commands !== undefined) {
    return { words: Object.entries(commands).map(([word, entry]) => [word, entry.summary] as const), files: false };
  }
  const argument = Object.values(command?.args ?? {})[position];
  return valuesOf(argument?.completes, typed, lookUp);
}

const none: Candidates = { words: [], files: false };

function allOptions(command: Command | undefined): [string, Option][] {
  return Object.entries<Option>({ ...command?.options, ...globalOptions, help: helpOption });
}

/** The option of a flag, if it takes a value. */
function valueOption(flag: string, command: Command | undefined): Option | undefined {
  const found = allOptions(command).find(([name, option]) => flagsOf(name, option).includes(flag))?.[1];
  return found?.placeholder === undefined ? undefined : found;
}

function optionWords(command: Command | undefined): (readonly [string, string])[] {
  return allOptions(command).map(([name, option]) => [flagsOf(name, option)[0] ?? '', option.summary]);
}

async function valuesOf(
  completes: Completes | undefined,
  typed: readonly string[],
  lookUp: LookUp,
): Promise<Candidates> {
  if (completes === undefined) return none;
  if (completes === 'file') return { words: [], files: true };
  const words = typeof completes === 'string' ? await lookUp(completes, typed) : completes;
  return { words: words.map((word) => [word, ''] as const), files: false };
}
