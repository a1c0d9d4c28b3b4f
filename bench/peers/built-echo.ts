import { execFile } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** A program, or why there is none. */
export type Program = { readonly path: string } | { readonly absent: string };

const run = promisify(execFile);
const cacheFolder = resolve('node_modules/.cache/reeve-bench-peers');

/** The echo on tonic. Cargo builds it once, and again when its source changes. */
export function tonicEcho(): Promise<Program> {
  const built = join(cacheFolder, 'release', 'tonic-echo');
  return buildIn(built, 'tonic-echo', 'cargo', ['build', '--release', '--locked', '--target-dir', cacheFolder]);
}

/** The echo on grpc-go. */
export function goEcho(): Promise<Program> {
  const built = join(cacheFolder, 'go-echo');
  return buildIn(built, 'go-echo', 'go', ['build', '-o', built, '.']);
}

async function buildIn(path: string, folder: string, tool: string, args: readonly string[]): Promise<Program> {
  if ('absent' in onPath(tool)) return { absent: `not built: no ${tool}` };
  mkdirSync(cacheFolder, { recursive: true });
  try {
    await run(tool, [...args], { cwd: fileURLToPath(new URL(folder, import.meta.url)) });
    return { path };
  } catch (error) {
    const why = error instanceof Error ? (error.message.trim().split('\n').at(-1) ?? '') : String(error);
    return { absent: `not built: ${why}` };
  }
}

/** A program that the operator has installed; it is never downloaded. */
export function onPath(name: string): Program {
  const places = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, name));
  const path = places.find((place) => existsSync(place));
  return path === undefined ? { absent: 'not found' } : { path };
}
