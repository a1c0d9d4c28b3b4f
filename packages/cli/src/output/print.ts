import { CliError } from '../cli-error.ts';
import type { OutputFormat } from '../command-line/command.ts';
import { writeYaml } from '../context/write-yaml.ts';
import type { Shell } from '../shell.ts';
import { cleanLines, escapeControls } from './clean-text.ts';

/** Prints a result: as data, or as text and tables for people. */
export function print(shell: Shell, output: OutputFormat, data: unknown, forPeople: () => string): void {
  shell.stdout.write(output === 'table' ? `${wordsOf(forPeople)}\n` : dataText(output, data));
}

/** A gateway of another version may leave out members that the text needs. */
function wordsOf(forPeople: () => string): string {
  try {
    return forPeople();
  } catch (error) {
    const words =
      'the answer of the gateway lacks something that this version expects; --output json shows it as it is';
    throw new CliError(words, { cause: error });
  }
}

export function dataText(output: 'json' | 'yaml', data: unknown): string {
  return output === 'json' ? `${escapeControls(JSON.stringify(data, undefined, 2))}\n` : writeYaml(data);
}

/** A remark beside the result, for people. */
export function note(shell: Shell, text: string): void {
  shell.stderr.write(`${cleanLines(text)}\n`);
}
