import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { isInsideAny } from './inside.ts';

/** The program in the PATH, but from none of these folders: who can write there could put another in its place. */
export function findProgram(name: string, path: string, untrusted: readonly string[]): string | undefined {
  for (const folder of path.split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    const found = executableAt(join(folder, name));
    if (found !== undefined && !isInsideAny(found, untrusted)) return found;
  }
  return undefined;
}

/** The real path of a file that may be executed. */
export function executableAt(path: string): string | undefined {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile() ? realpathSync(path) : undefined;
  } catch {
    return undefined;
  }
}
