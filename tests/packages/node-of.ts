import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const cache = resolve('node_modules/.cache/reeve-nodes');

/** A Node of a major version: the one of this process, one on the PATH, or one that npm brings, installed once. */
export async function nodeOf(major: number): Promise<string> {
  if (process.versions.node.startsWith(`${major}.`)) return process.execPath;
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const path = join(folder, 'node');
    if (existsSync(path) && (await versionOf(path)).startsWith(`v${major}.`)) return path;
  }
  const folder = join(cache, String(major));
  const name = `node-linux-${process.arch}`;
  const path = join(folder, 'node_modules', name, 'bin/node');
  if (!existsSync(path)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"private":true}');
    await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', `${name}@${major}`], { cwd: folder });
  }
  return path;
}

async function versionOf(node: string): Promise<string> {
  return (await run(node, ['--version']).catch(() => ({ stdout: '' }))).stdout;
}
