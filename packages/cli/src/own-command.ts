import { realpathSync } from 'node:fs';
import { isSea } from 'node:sea';
import type { Shell } from './shell.ts';

/** The words that start this command once more, from any folder. The single executable is its own script. */
export function ownCommand(): readonly [program: string, ...args: string[]] {
  return isSea() ? [process.execPath] : [process.execPath, process.argv[1] ?? ''];
}

/** The same by the files themselves, wherever links will lead. */
export function ownFiles(): readonly string[] {
  return ownCommand().map((file) => realpathSync(file));
}

/** The command as a person would type it, the way this one was started. */
export function typedCommand({ env }: Pick<Shell, 'env'>): string {
  if (env['npm_command'] !== 'exec') return 'reeve';
  return ownCommand().some((word) => word.includes('/node_modules/@reeve/cli/')) ? 'npx @reeve/cli' : 'npx reeve';
}
