import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { dashboardFolder } from '@reeve/dashboard';

/** The folder of this package. The code that is published stands as deep in it as the sources. */
const home = fileURLToPath(new URL('..', import.meta.url));

/**
 * The files of a folder that comes with the command, by their path in it; none if there is no such folder. Everything
 * that the command reads beside its code is read here: the single executable has it inside and replaces this module.
 */
export function shippedFiles(folder: string): ReadonlyMap<string, Buffer> {
  return filesIn(join(home, folder));
}

/** The built dashboard. */
export function dashboardFiles(): ReadonlyMap<string, Buffer> {
  return filesIn(dashboardFolder);
}

function filesIn(folder: string): ReadonlyMap<string, Buffer> {
  try {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile() && !entry.name.startsWith('.'));
    const paths = files.map(({ parentPath, name }) => join(parentPath, name));
    return new Map(paths.map((path) => [path.slice(join(folder, '/').length), readFileSync(path)]));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map();
    throw error;
  }
}
