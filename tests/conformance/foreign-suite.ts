import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Tool } from './tools.ts';
import { cacheFolder, whyOf } from './tools.ts';

/** What a foreign suite found: cases by their kind, and those that must not be. */
export interface SuiteResult {
  readonly counts: Readonly<Record<string, number>>;
  readonly passed: number;
  /** A line for each case that is not as it should be. */
  readonly failures: readonly string[];
}

/** A suite of others. Its data stays outside the repository. One entry in `foreign-suites.ts` is all that it needs. */
export interface ForeignSuite {
  readonly name: string;
  /** What it is, and what the numbers of the last run mean: a paragraph of the page. */
  readonly about: string;
  /** Finds or installs what the suite needs. */
  prepare(say: (line: string) => void): Promise<Tool>;
  run(path: string, say: (line: string) => void): Promise<SuiteResult>;
}

const execute = promisify(execFile);

/** A package from npm in a folder of its own, installed once. The path is that of the package. */
export async function npmTool(name: string, version: string, say: (line: string) => void): Promise<Tool> {
  const folder = join(cacheFolder, name.replaceAll(/[@/]+/g, '-'));
  const path = join(folder, 'node_modules', name);
  try {
    if (!existsSync(path)) {
      say(`installing ${name}`);
      mkdirSync(folder, { recursive: true });
      await execute('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', `${name}@${version}`]);
    }
    const about = readFileSync(join(path, 'package.json'), 'utf8');
    return { path, version: (JSON.parse(about) as { version: string }).version };
  } catch (error) {
    return { missing: `${name} could not be installed: ${whyOf(error)}` };
  }
}
