import { accessSync, constants, realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { joinWords } from '../shell/quote.ts';

/**
 * The command that a host runs. Hosts go on if a hook is not found or crashes, so every bad end becomes the code that
 * blocks.
 */
export function hookCommandLine(words: readonly string[], path: string | undefined, self: string): string {
  const program = isOnPath('reeve', path) ? 'reeve' : realpathSync(self);
  return `${joinWords([program, 'hook', ...words])} || exit 2`;
}

function isOnPath(name: string, path = ''): boolean {
  return path.split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return folder !== '';
    } catch {
      return false;
    }
  });
}
