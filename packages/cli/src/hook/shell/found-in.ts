import { analyseShell } from './analyse-shell.ts';
import { joinWords } from './quote.ts';
import type { ShellAction } from './shell-action.ts';
import { unreadable } from './shell-action.ts';

/** What a text would do, in short lines for tests: `rm -r x`, `?`, `<read`, `>written`, `@host:port`. */
export function foundIn(source: string): string[] {
  return [...new Set(analyseShell(source, { cwd: '/workspace', home: '/home/ada' }).map(lineOf))];
}

function lineOf(action: ShellAction): string {
  switch (action.kind) {
    case 'execution':
      return action.command === unreadable ? unreadable : joinWords([action.command, ...action.args]);
    case 'file':
      return `${action.operation === 'write' ? '>' : '<'}${action.path}`;
    case 'connection':
      return `@${action.host}:${action.port}`;
  }
}
