import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import type { Tool } from '../tools.ts';
import { cacheFolder, whyOf } from '../tools.ts';

const run = promisify(execFile);

/** A command line by which a program does more than it is for. */
export interface GtfobinsLine {
  readonly program: string;
  /** What it is done for, such as `shell` or `file-write`. */
  readonly end: string;
  readonly code: string;
}

/** Clones the list once. */
export async function findGtfobins(): Promise<Tool> {
  const folder = join(cacheFolder, 'gtfobins');
  const source = process.env['REEVE_CONFORMANCE_GTFOBINS'];
  try {
    if (!existsSync(folder)) {
      if (source === undefined)
        return { missing: 'GTFOBins: REEVE_CONFORMANCE_GTFOBINS names a clone of its repository, by path or address' };
      mkdirSync(cacheFolder, { recursive: true });
      await run('git', ['clone', '--quiet', '--depth', '1', source, folder]);
    }
    const { stdout } = await run('git', ['-C', folder, 'log', '-1', '--format=%h of %cs']);
    return { path: folder, version: stdout.trim() };
  } catch (error) {
    return { missing: `GTFOBins could not be cloned: ${whyOf(error)}` };
  }
}

interface Entry {
  readonly functions?: Readonly<Record<string, readonly { readonly code?: string }[]>>;
}

/** All lines of the list. */
export function linesIn(path: string): readonly GtfobinsLine[] {
  const folder = join(path, '_gtfobins');
  return readdirSync(folder).flatMap((program) => {
    const text = readFileSync(join(folder, program), 'utf8')
      .replace(/^---\n/, '')
      .replace(/\n\.\.\.\s*$/, '\n');
    const { functions = {} } = parse(text) as Entry;
    return Object.entries(functions).flatMap(([end, ways]) =>
      ways.flatMap(({ code }) => (code === undefined ? [] : [{ program, end, code }])),
    );
  });
}
