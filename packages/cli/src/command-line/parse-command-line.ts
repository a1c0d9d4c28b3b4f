import { UsageError } from '../cli-error.ts';
import type { Command, CommandEntry, CommandTable, GroupEntry, Input, Option, OptionSet } from './command.ts';
import { kebabCase } from './command.ts';
import { globalOptions, globalValues, helpOption, versionOption } from './global-options.ts';

/** What the command line asks for. */
export type Parsed =
  | { readonly kind: 'help'; readonly path: readonly string[]; readonly isMisused: boolean }
  | { readonly kind: 'version'; readonly globals: Input['globals'] }
  | { readonly kind: 'run'; readonly path: readonly string[]; readonly command: Command; readonly input: Input };

/**
 * Reads a command line: global options before and after the command, `--name value` and `--name=value`, and `--` before
 * words that look like options.
 */
export async function parseCommandLine(table: CommandTable, argv: readonly string[]): Promise<Parsed> {
  if (argv[0] === 'help') return { kind: 'help', path: argv.slice(1), isMisused: false };
  const words: string[] = [];
  const path: string[] = [];
  const given = new Map<Option, string[]>();
  let commands: CommandTable | undefined = table;
  let command: Command | undefined;
  let onlyWords = false;
  for (let at = 0; at < argv.length; at++) {
    const token = argv[at] ?? '';
    if (token === '--' && !onlyWords) onlyWords = true;
    else if (isOption(token) && !onlyWords) {
      const { option, value, flag } = await findOption(token, command, path);
      const takesNext = option.placeholder !== undefined && value === undefined;
      if (takesNext && at + 1 >= argv.length) throw await misuse(path, `${flag} needs a value: ${option.placeholder}`);
      given.set(option, [...(given.get(option) ?? []), value ?? (takesNext ? (argv[++at] ?? '') : '')]);
    } else if (commands === undefined) words.push(token);
    else {
      const entry: CommandEntry | GroupEntry | undefined = Object.hasOwn(commands, token) ? commands[token] : undefined;
      if (entry === undefined)
        throw await misuse(path, `unknown command "${[...path, token].join(' ')}".`, token, Object.keys(commands));
      path.push(token);
      commands = 'commands' in entry ? entry.commands : undefined;
      if ('load' in entry) command = await entry.load();
    }
  }
  if (given.has(helpOption)) return { kind: 'help', path, isMisused: false };
  const globals = () => globalValues((name) => given.get(globalOptions[name as keyof typeof globalOptions]) ?? []);
  if (command !== undefined) {
    const input = { globals: globals(), ...(await valuesOf(command, given, words, path)) } as Input;
    return { kind: 'run', path, command, input };
  }
  if (given.has(versionOption)) return { kind: 'version', globals: globals() };
  return { kind: 'help', path, isMisused: true };
}

interface Found {
  readonly option: Option;
  /** As it was typed. */
  readonly flag: string;
  /** The text after `=`. */
  readonly value: string | undefined;
}

/** No option begins with "-/". An agent without an org does, as "-/-/agent". */
function isOption(token: string): boolean {
  return token.startsWith('-') && token !== '-' && !token.startsWith('-/');
}

async function findOption(token: string, command: Command | undefined, path: readonly string[]): Promise<Found> {
  const [, flag = token, value] = /^(-[^=]*)=(.*)$/s.exec(token) ?? [];
  const known: OptionSet = {
    ...globalOptions,
    help: helpOption,
    ...(path.length === 0 ? { version: versionOption } : {}),
    ...command?.options,
  };
  const found = Object.entries(known).find(([name, option]) => flagsOf(name, option).includes(flag));
  if (found === undefined) {
    const flags = Object.entries(known).flatMap(([name, option]) => flagsOf(name, option).slice(0, 1));
    throw await misuse(path, `unknown option "${flag}".`, flag, flags);
  }
  const [, option] = found;
  if (value !== undefined && option.placeholder === undefined) throw await misuse(path, `${flag} takes no value`);
  return { option, flag, value };
}

/** Every spelling of an option. Help shows the first. */
export function flagsOf(name: string, option: Option): string[] {
  const short = option.short === undefined ? [] : [`-${option.short}`];
  return [`--${kebabCase(name)}`, ...(option.aliases ?? []).map((alias) => `--${alias}`), ...short];
}

async function valuesOf(
  command: Command,
  given: ReadonlyMap<Option, readonly string[]>,
  words: readonly string[],
  path: readonly string[],
): Promise<{ options: Record<string, unknown>; args: Record<string, unknown>; rest: readonly string[] }> {
  const names = Object.keys(command.args);
  if (words.length > names.length && command.rest === undefined) {
    throw await misuse(path, `unexpected argument "${words[names.length]}"`);
  }
  try {
    const options = Object.entries(command.options).map(([name, option]) => [
      name,
      option.read(given.get(option) ?? [], `--${kebabCase(name)}`),
    ]);
    const args = Object.entries(command.args).map(([name, argument], at) => [
      name,
      argument.read(words[at], kebabCase(name).toUpperCase()),
    ]);
    const rest = words.slice(names.length);
    return { options: Object.fromEntries(options), args: Object.fromEntries(args), rest };
  } catch (error) {
    throw error instanceof UsageError ? await misuse(path, error.message) : error;
  }
}

/** Says what is wrong, what the user probably meant, and where to find help. */
async function misuse(
  path: readonly string[],
  what: string,
  typed?: string,
  known: readonly string[] = [],
): Promise<UsageError> {
  // Loaded only for an error.
  const { didYouMean } = await import('./suggest.ts');
  const guess = typed === undefined ? '' : didYouMean(typed, known);
  return new UsageError(`${what}${guess}\nRun "${['reeve', ...path, '--help'].join(' ')}" for how it is used.`);
}
