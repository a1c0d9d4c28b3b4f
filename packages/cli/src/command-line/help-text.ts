import { UsageError } from '../cli-error.ts';
import type { Argument, Command, CommandEntry, CommandTable, GroupEntry, OptionSet } from './command.ts';
import { kebabCase } from './command.ts';
import { globalOptions, helpOption, versionOption } from './global-options.ts';
import { flagsOf } from './parse-command-line.ts';
import { didYouMean } from './suggest.ts';

const about = 'The agent governance gateway, and the command that operates it.';

/** The help of a command, of a group of commands, or of all. */
export async function helpText(table: CommandTable, path: readonly string[]): Promise<string> {
  if (path.length === 0) {
    return tableHelp('reeve COMMAND', about, table, { ...globalOptions, version: versionOption });
  }
  let subs: CommandTable | undefined = table;
  const known: string[] = [];
  let entry: CommandEntry | GroupEntry | undefined;
  for (const name of path) {
    // What follows a command is no command.
    if (subs === undefined) break;
    entry = lookUp(subs, name, known);
    known.push(name);
    subs = 'commands' in entry ? entry.commands : undefined;
  }
  if (entry === undefined) return '';
  if ('load' in entry) return commandHelp(known, entry.summary, await entry.load(), subs);
  return tableHelp(`reeve ${known.join(' ')} COMMAND`, entry.summary, subs ?? {}, globalOptions);
}

function lookUp(commands: CommandTable, name: string, path: readonly string[]): CommandEntry | GroupEntry {
  const entry = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (entry !== undefined) return entry;
  throw new UsageError(`unknown command "${[...path, name].join(' ')}".${didYouMean(name, Object.keys(commands))}`);
}

function tableHelp(usage: string, summary: string, commands: CommandTable, options: OptionSet): string {
  const rows = Object.entries(commands).map(([name, entry]) => [shown(name, entry), entry.summary] as const);
  return sections([
    `Usage: ${usage} [OPTIONS]`,
    summary,
    block('Commands', rows),
    block('Options', optionRows({ ...options, help: helpOption })),
    `Run "${usage.replace('COMMAND', '').trim()} COMMAND --help" for one command.`,
  ]);
}

function shown(name: string, entry: CommandEntry | GroupEntry): string {
  if (!('commands' in entry)) return name;
  const subs = Object.keys(entry.commands).join('|');
  return 'load' in entry ? `${name} [${subs}]` : `${name} ${subs}`;
}

function commandHelp(path: readonly string[], summary: string, command: Command, commands: CommandTable = {}): string {
  const args = Object.entries(command.args);
  const own = Object.keys(command.options).length > 0;
  const { rest } = command;
  const words = args.map(([name, argument]) => argumentName(name, argument));
  const usage = ['reeve', ...path, ...words, '[OPTIONS]', ...(rest === undefined ? [] : [`[${rest.placeholder}]`])];
  const example = command.examples.map(([line, what]) => [line, what] as const);
  return sections([
    `Usage: ${usage.join(' ')}`,
    summary,
    ...(command.details ?? []).map((paragraph) => wrapped(paragraph, lineWidth).join('\n')),
    ...(args.length > 0 || rest !== undefined
      ? [
          block('Arguments', [
            ...args.map(([name, argument]) => [argumentName(name, argument), argument.summary] as const),
            ...(rest === undefined ? [] : [[rest.placeholder, rest.summary] as const]),
          ]),
        ]
      : []),
    ...(own ? [block('Options', optionRows(command.options))] : []),
    ...(Object.keys(commands).length > 0
      ? [
          block(
            'Commands',
            Object.entries(commands).map(([name, entry]) => [name, entry.summary] as const),
          ),
        ]
      : []),
    block('Global options', optionRows({ ...globalOptions, help: helpOption })),
    block('Examples', example),
    ...(command.appendix === undefined ? [] : [command.appendix]),
  ]);
}

export function argumentName(name: string, { isOptional }: Argument): string {
  const upper = kebabCase(name).toUpperCase();
  return isOptional ? `[${upper}]` : upper;
}

export function optionRows(options: OptionSet): (readonly [string, string])[] {
  return Object.entries(options).map(([name, option]) => {
    const [long = ''] = flagsOf(name, option);
    const short = option.short === undefined ? '' : `-${option.short}, `;
    return [`${short}${long}${option.placeholder === undefined ? '' : ` ${option.placeholder}`}`, option.summary];
  });
}

function sections(parts: readonly string[]): string {
  return `${parts.join('\n\n')}\n`;
}

const lineWidth = 100;

/** Two columns. A left side that is too long gets its own line. The right side is wrapped. */
function block(title: string, rows: readonly (readonly [string, string])[]): string {
  const left = Math.min(38, Math.max(...rows.map(([name]) => name.length)));
  const indent = ' '.repeat(left + 4);
  const lines = rows.flatMap(([name, text]) => {
    const [first = '', ...rest] = wrapped(text, lineWidth - indent.length);
    const head = name.length > left ? [`  ${name}`, `${indent}${first}`] : [`  ${name.padEnd(left)}  ${first}`];
    return [...head, ...rest.map((line) => `${indent}${line}`)];
  });
  return [`${title}:`, ...lines.map((line) => line.trimEnd())].join('\n');
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
