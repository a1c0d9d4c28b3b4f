import { isSea } from 'node:sea';

/** The words that start this command once more, from any folder. The single executable is its own script. */
export function ownCommand(): readonly [program: string, ...args: string[]] {
  return isSea() ? [process.execPath] : [process.execPath, process.argv[1] ?? ''];
}
