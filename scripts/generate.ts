// Generates code from the protos, the table of routes and the types of entries. With --check it writes to a temporary folder and fails if the committed files differ.
// The code of the Python client is generated too, where there is Python. The tests of that client check it.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Route } from '@reeve/contract/http';
import { routes } from '@reeve/contract/http';
import { eventSeverities } from '@reeve/core';
import { pythonEnvironment } from './python-environment.ts';

const committed = 'packages/contract/src/gen';
const check = process.argv.includes('--check');

function generate(out: string): void {
  const template = join(out, 'buf.gen.yaml');
  writeFileSync(template, readFileSync('buf.gen.yaml', 'utf8').replace(committed, out));
  execFileSync('node_modules/.bin/buf', ['generate', '--template', template], { stdio: 'inherit' });
  rmSync(template);
  const image = execFileSync('node_modules/.bin/buf', [
    'build',
    '--as-file-descriptor-set',
    '--exclude-source-info',
    '-o',
    '-#format=binpb',
  ]);
  writeFileSync(
    join(out, 'descriptor-set.ts'),
    `// Generated from the protos by "npm run generate". Do not edit.\n\nexport const descriptorSetBase64: string =\n  '${image.toString('base64')}';\n`,
  );
  writeFileSync(join(out, 'route-table.ts'), routeTable());
  writeFileSync(join(out, 'audit-event-types.ts'), auditEventTypes());
}

/** What clients need of the routes without their schemas. The compiler holds each row to its route. */
function routeTable(): string {
  const rows = Object.entries<Route>(routes).map(
    ([name, { method, path, access }]) => `  ${name}: ['${method}', '${path}', ${access === 'public'}],\n`,
  );
  return `// Generated from the routes by "npm run generate". Do not edit.
import type { RouteName, Routes } from '../http/routes.ts';

type Row<Name extends RouteName> = readonly [
  method: Routes[Name]['method'],
  path: Routes[Name]['path'],
  isPublic: Routes[Name]['access'] extends 'public' ? true : false,
];

export const routeTable: { readonly [Name in RouteName]: Row<Name> } = {
${rows.join('')}};
`;
}

/** Clients know every type of entry that the core writes. */
function auditEventTypes(): string {
  const types = Object.keys(eventSeverities).map((type) => `  '${type}',\n`);
  return `// Generated from the core by "npm run generate". Do not edit.

/** Every event type of the audit log. */
export const auditEventTypes = [
${types.join('')}] as const;

export type AuditEventType = (typeof auditEventTypes)[number];
`;
}

function generatePython(): void {
  const environment = pythonEnvironment();
  if ('missing' in environment) {
    process.stderr.write(`not generated: the code of the Python client, which needs ${environment.missing}\n`);
    return;
  }
  execFileSync(environment.python, ['clients/python/tools/generate.py'], { stdio: 'inherit' });
}

function listing(root: string): Map<string, string> {
  const names = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  return new Map(names.map((name) => [name.slice(root.length + 1), readFileSync(name, 'utf8')]));
}

const scratch = mkdtempSync(join(tmpdir(), 'reeve-generate-'));
try {
  generate(scratch);
  if (check) {
    const fresh = listing(scratch);
    const present = listing(committed);
    const stale = [...new Set([...fresh.keys(), ...present.keys()])].filter(
      (name) => fresh.get(name) !== present.get(name),
    );
    if (stale.length > 0) {
      process.stderr.write(`generated code is out of date: ${stale.join(', ')}\nRun: npm run generate\n`);
      process.exitCode = 1;
    }
  } else {
    rmSync(committed, { recursive: true, force: true });
    cpSync(scratch, committed, { recursive: true });
    generatePython();
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
