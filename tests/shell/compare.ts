import { analyseShell } from '../../packages/cli/src/hook/shell/analyse-shell.ts';
import { quoteWord } from '../../packages/cli/src/hook/shell/quote.ts';
import type { Jail, ShellName } from './jail.ts';

const runsScripts = /^(?:bash|sh|dash|source|\.)$/;

/** The names of the commands that the hook finds in a line, or undefined if it has a doubt. */
export function namesIn(line: string, shell: ShellName): ReadonlySet<string> | undefined {
  const source = shell === 'bash' ? line : `sh -c ${quoteWord(line)}`;
  const found = analyseShell(source, { cwd: '/work', home: '/home/ada' });
  const commands = found.flatMap((action) => (action.kind === 'execution' ? [action] : []));
  if (commands.some(({ command }) => command === '?')) return undefined;
  // A shell that is given a script runs it, and the script is among the words.
  const names = commands.flatMap(({ command, args }) => (runsScripts.test(command) ? [command, ...args] : [command]));
  return new Set(names.map((name) => name.split('/').at(-1) ?? ''));
}

/** What a shell runs and the hook has neither found nor doubted. Undefined if there is nothing to compare. */
export async function unseenIn(line: string, shell: ShellName, jail: Jail): Promise<readonly string[] | undefined> {
  if (line.includes('\0')) return undefined;
  const found = namesIn(line, shell);
  if (found === undefined) return undefined;
  const ran = await jail.run(shell, line);
  return [...ran].filter((name) => !found.has(name));
}
