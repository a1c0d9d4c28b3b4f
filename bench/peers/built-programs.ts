import { execFile } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** A program, or why there is none. */
export type Program = { readonly path: string } | { readonly absent: string };

const run = promisify(execFile);
const cacheFolder = resolve('node_modules/.cache/reeve-bench-peers');

/** A build that takes longer has gone wrong. What it has made stays, so the next run goes on from there. */
const buildWithinMs = 30 * 60_000;

/** A server on tonic. Cargo builds it once, and again when its source changes. */
export function onTonic(name: 'tonic-echo' | 'cedar'): Promise<Program> {
  const features = name === 'cedar' ? ['--features', 'cedar'] : [];
  const args = ['build', '--release', '--locked', '--bin', name, ...features, '--target-dir', cacheFolder];
  return buildIn(join(cacheFolder, 'release', name), 'tonic', 'cargo', args);
}

/** A program in Go: that of a folder here, or the package that its go.mod names as a tool. */
export function byGo(name: 'go-echo' | 'opa' | 'openfga', source = '.'): Promise<Program> {
  const built = join(cacheFolder, name);
  return buildIn(built, name, 'go', ['build', '-o', built, source]);
}

async function buildIn(path: string, folder: string, tool: string, args: readonly string[]): Promise<Program> {
  if ('absent' in onPath(tool)) return { absent: `not built: no ${tool}` };
  mkdirSync(cacheFolder, { recursive: true });
  try {
    await run(tool, [...args], { cwd: fileURLToPath(new URL(folder, import.meta.url)), timeout: buildWithinMs });
    return { path };
  } catch (error) {
    if ((error as { killed?: boolean }).killed === true) return { absent: 'not built: it took too long' };
    const why = error instanceof Error ? (error.message.trim().split('\n').at(-1) ?? '') : String(error);
    return { absent: `not built: ${why}` };
  }
}

/** A program that the operator has installed. */
export function onPath(name: string): Program {
  const places = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, name));
  const path = places.find((place) => existsSync(place));
  return path === undefined ? { absent: 'not found' } : { path };
}
