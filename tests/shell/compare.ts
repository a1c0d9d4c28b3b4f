import { analyseShell } from '../../packages/cli/src/hook/shell/analyse-shell.ts';
import { quoteWord } from '../../packages/cli/src/hook/shell/quote.ts';
import type { Jail, ShellName } from './jail.ts';
import { opened } from './jail.ts';

const runsScripts = /^(?:bash|sh|dash|source|\.)$/;

/** The names of the commands that the hook finds in a line, or undefined if it has a doubt. */
export function namesIn(line: string, shell: ShellName): ReadonlySet<string> | undefined {
  const source = shell === 'bash' ? line : `sh -c ${quoteWord(line)}`;
  const found = analyseShell(source, { cwd: '/work', home: '/home/ada' });
  const commands = found.flatMap((action) => (action.kind === 'execution' ? [action] : []));
  if (commands.some(({ command }) => command === '?')) return undefined;
  // A shell that is given a script runs it, and the script is among the words.
  const names = commands.flatMap(({ command, args }) => {
    if (command === 'python3' && args[0] === '-c') return [command, `program:${linesOf(args[1] ?? '')}`];
    return runsScripts.test(command) ? [command, ...args] : [command];
  });
  const isWritten = found.some((action) => action.kind === 'file' && action.path.endsWith(`/${opened}`));
  const base = (name: string) => (name.startsWith('program:') ? name : (name.split('/').at(-1) ?? ''));
  return new Set([...names.map(base).map(withoutEnd), ...(isWritten ? [opened] : [])]);
}

/** A program that an interpreter reads, as the jail records it. */
function linesOf(program: string): string {
  const lines = program.replace(/\n$/, '').split('\n');
  return program === '' ? '' : lines.map((line) => ` ${line}`).join('');
}

/** What a shell runs and the hook has neither found nor doubted. Undefined if there is nothing to compare. */
export async function unseenIn(line: string, shell: ShellName, jail: Jail): Promise<readonly string[] | undefined> {
  if (line.includes('\0')) return undefined;
  const found = namesIn(line, shell);
  if (found === undefined) return undefined;
  const ran = await jail.run(shell, line);
  return [...ran].filter((name) => !found.has(withoutEnd(name)));
}

/** Empty lines at the end of a program mean nothing; a here-string adds one. */
function withoutEnd(name: string): string {
  return name.startsWith('program:') ? name.trimEnd() : name;
}
