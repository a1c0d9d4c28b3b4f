import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const cache = resolve('node_modules/.cache/reeve-compilers');

/** A compiler of TypeScript: the one of this repository, or another version, installed once. */
export async function compilerOf(version: string): Promise<string> {
  if (version === 'our') return resolve('node_modules/.bin/tsc');
  const folder = join(cache, version);
  const path = join(folder, 'node_modules/.bin/tsc');
  if (!existsSync(path)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"private":true}');
    const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', `typescript@~${version}.0`];
    await promisify(execFile)('npm', args, { cwd: folder });
  }
  return path;
}
