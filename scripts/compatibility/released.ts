import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openApiDocument } from '@reeve/contract/http';
import { home } from '../packages/public-packages.ts';
import type { ApiDocument } from './openapi-breaks.ts';

/** The wire of the last release, to compare with. Each release puts its own in place of it. */
const folder = join(home, 'packages/contract/released');
const buf = join(home, 'node_modules/.bin/buf');

export interface ReleasedWire {
  readonly version: string;
  /** Descriptors of the protos. */
  readonly protos: string;
  readonly openApi: ApiDocument;
  /** Breaks of the HTTP API that the next release makes on purpose, each with the reason. */
  readonly accepted: Readonly<Record<string, string>>;
}

export function releasedWire(): ReleasedWire {
  const [version, ...others] = readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [entry.name] : [],
  );
  if (version === undefined || others.length > 0) throw new Error(`${folder} must have the wire of one release`);
  const place = join(folder, version);
  const openApi = JSON.parse(readFileSync(join(place, 'openapi.json'), 'utf8')) as ApiDocument;
  return { version, protos: join(place, 'protos.binpb'), openApi, accepted: acceptedBreaks() };
}

function acceptedBreaks(): Readonly<Record<string, string>> {
  const file = join(folder, 'accepted-breaks.json');
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>) : {};
}

/** Makes the wire of the sources that of a release. */
export function recordWire(version: string): void {
  rmSync(folder, { recursive: true, force: true });
  const place = join(folder, version);
  mkdirSync(place, { recursive: true });
  execFileSync(buf, ['build', '--exclude-source-info', '-o', join(place, 'protos.binpb')], { cwd: home });
  writeFileSync(join(place, 'openapi.json'), `${JSON.stringify(openApiDocument(version))}\n`);
}
