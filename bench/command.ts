import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assembleCommand } from '../scripts/assemble-command.ts';
import { trackFolder } from './children.ts';

let installed: string | undefined;

/** The command as people install it, in one bundle. It is made once for a run of the benchmark. */
export function installedCommand(): string {
  if (installed === undefined) {
    const folder = mkdtempSync(join(tmpdir(), 'reeve-bench-command-'));
    trackFolder(folder);
    installed = assembleCommand(folder);
  }
  return installed;
}

/** The command of the checkout, for a profile that names its files. */
export const commandFromSources = fileURLToPath(new URL('../packages/cli/bin/reeve.mjs', import.meta.url));
