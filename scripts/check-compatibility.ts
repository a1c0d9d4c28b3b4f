// Compares the wire of the sources with that of the last release: "protos" by buf, "openapi" by our own rules. Fails on
// what a client of the last release would trip over.
import { spawnSync } from 'node:child_process';
import { openApiDocument } from '@reeve/contract/http';
import type { ApiDocument } from './compatibility/openapi-breaks.ts';
import { openApiBreaks } from './compatibility/openapi-breaks.ts';
import { releasedWire } from './compatibility/released.ts';

function checkProtos(): boolean {
  const { protos } = releasedWire();
  return spawnSync('node_modules/.bin/buf', ['breaking', '--against', protos], { stdio: 'inherit' }).status === 0;
}

function checkOpenApi(): boolean {
  const { version, openApi, accepted } = releasedWire();
  const found = openApiBreaks(openApi, openApiDocument(version) as unknown as ApiDocument);
  const breaks = found.filter((line) => accepted[line] === undefined);
  for (const line of breaks) process.stderr.write(`${line}\n`);
  if (breaks.length > 0) {
    process.stderr.write(`The HTTP API breaks clients of ${version}. docs/releasing.md says what to do.\n`);
  }
  return breaks.length === 0;
}

const part = process.argv[2];
if (part !== 'protos' && part !== 'openapi') throw new Error('usage: check-compatibility.ts protos | openapi');
process.exitCode = (part === 'protos' ? checkProtos() : checkOpenApi()) ? 0 : 1;
