import { execFile } from 'node:child_process';
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { RequestKind } from './h2spec-exceptions.ts';
import type { Tool } from './tools.ts';
import { cacheFolder, goTool, whyOf } from './tools.ts';

const run = promisify(execFile);
const module = 'github.com/summerwind/h2spec';

/** h2spec as it is published, or built to send its requests as calls of gRPC. */
export async function findH2spec(requests: RequestKind, say: (line: string) => void): Promise<Tool> {
  const tool = await goTool(`${module}/cmd/h2spec`, module, say);
  if (requests === 'http' || 'missing' in tool) return tool;
  const path = join(cacheFolder, 'h2spec-grpc');
  if (existsSync(path)) return { ...tool, path };
  say('building h2spec with requests of gRPC');
  try {
    await buildForGrpc(path, tool.version);
    return { ...tool, path };
  } catch (error) {
    return { missing: `h2spec with requests of gRPC could not be built: ${whyOf(error)}` };
  }
}

/** All tests take their header from one function. It gets another method, and the two fields that make a call. */
async function buildForGrpc(path: string, version: string): Promise<void> {
  const { stdout } = await run('go', ['mod', 'download', '-json', `${module}@${version}`]);
  const { Dir: source } = JSON.parse(stdout) as { Dir: string };
  const folder = join(cacheFolder, 'h2spec-source');
  rmSync(folder, { recursive: true, force: true });
  cpSync(source, folder, { recursive: true });
  await run('chmod', ['-R', 'u+w', folder]);
  const file = join(folder, 'spec', 'util.go');
  writeFileSync(file, asGrpc(readFileSync(file, 'utf8')));
  const inFolder = { cwd: folder };
  if (!existsSync(join(folder, 'go.mod'))) await run('go', ['mod', 'init', module], inFolder);
  await run('go', ['mod', 'tidy'], inFolder);
  await run('go', ['build', '-o', path, './cmd/h2spec'], inFolder);
}

/** Throws if the source is not as expected: half a change would test something else. */
export function asGrpc(source: string): string {
  const method = 'HeaderField(":method", "GET"),';
  const authority = 'HeaderField(":authority", authority),';
  for (const line of [method, authority]) {
    if (source.split(line).length !== 2) throw new Error(`its source does not hold ${line} once`);
  }
  const call = 'HeaderField("content-type", "application/grpc"), HeaderField("te", "trailers"),';
  return source.replace(method, 'HeaderField(":method", "POST"),').replace(authority, `${authority} ${call}`);
}
