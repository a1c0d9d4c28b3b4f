// The library behind the fallback engine, in one file of the published gateway. As a dependency it would bring packages that
// the gateway never loads, one of which runs a script at its installation.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Rolldown } from 'vite';
import { licencesOf } from './packages/bundled-licences.ts';

const home = join(import.meta.dirname, '..');
const library = 'grpc-js-library.js';
const entry = `export { Metadata, Server, ServerCredentials } from '@grpc/grpc-js';
export { BaseServerInterceptingCall } from '@grpc/grpc-js/build/src/server-interceptors.js';
`;

async function bundle(folder: string): Promise<void> {
  // Vite brings its own, which belongs to no package here.
  const { rolldown } = createRequire(import.meta.resolve('vite'))('rolldown') as typeof Rolldown;
  const virtual: Rolldown.Plugin = {
    name: 'entry',
    resolveId: (id) => (id === library ? join(home, 'packages/gateway', id) : undefined),
    load: (id) => (id === join(home, 'packages/gateway', library) ? entry : undefined),
  };
  // Only services that the gateway does not offer would load it.
  const external = ['@grpc/proto-loader'];
  await using made = await rolldown({ input: library, cwd: home, platform: 'node', external, plugins: [virtual] });
  const { output } = await made.write({ file: join(folder, library), keepNames: true });
  const modules = output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
  writeFileSync(join(folder, 'grpc-js-library.licenses.txt'), licencesOf(modules));
}

/** Where the engine stands in the built gateway. */
const engine = 'transports/grpc';

/** Writes the library beside the engine that uses it, in a process of its own. */
export function bundleGrpcJsAside(dist: string): void {
  const folder = join(dist, engine);
  mkdirSync(folder, { recursive: true });
  const { status } = spawnSync(process.execPath, [import.meta.filename, folder], { stdio: 'inherit' });
  if (status !== 0) throw new Error('the library of the fallback engine could not be bundled');
}

/** The code of the gateway with the file in place of the package. */
export function withBundledGrpcJs(file: string, code: string): string {
  if (!file.startsWith(`${engine}/`)) return code;
  return code.replaceAll(/ from (['"])@grpc\/grpc-js(?:\/[^'"]+)?\1/g, ` from './${library}'`);
}

if (import.meta.main) await bundle(process.argv[2] ?? '');
