import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { LockFile } from '../../scripts/release/sbom.ts';
import { billOfMaterials } from '../../scripts/release/sbom.ts';
import { licencesUnder, licenceText, packagesInMaps } from './bundled-code.ts';
import { agentModule, commonModule } from './consumers.ts';
import { EmptyProject, packAll } from './empty-project.ts';
import { nodeOf } from './node-of.ts';
import { adminKey, StartedGateway } from './started-gateway.ts';

interface Published {
  readonly name: string;
  readonly version: string;
  readonly exports?: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>;
  readonly scripts?: object;
  readonly dependencies: Readonly<Record<string, string>>;
}

const project = new EmptyProject();
let names: readonly string[] = [];
let gateway: StartedGateway;
/** What somebody has who installs a single package. */
const alone = { '@reeve/cli': new EmptyProject(), '@reeve/sdk': new EmptyProject() };

beforeAll(async () => {
  const tarballs = await packAll();
  names = [...tarballs.keys()];
  await project.install([...tarballs.values()]);
  for (const [name, single] of Object.entries(alone)) await single.install([tarballs.get(name) ?? name]);
  gateway = await startGateway();
}, 600_000);

function startGateway(): Promise<StartedGateway> {
  const bin = join(alone['@reeve/cli'].folder, 'node_modules/.bin/reeve');
  return StartedGateway.start(bin, { PATH: `${dirname(process.execPath)}:/usr/bin:/bin` });
}

afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  for (const each of [project, ...Object.values(alone)]) each[Symbol.dispose]();
});

function publishedOf(name: string): { folder: string; manifest: Published } {
  const folder = join(project.folder, 'node_modules', name);
  return { folder, manifest: JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Published };
}

it('says in each package what it is, whose it is and what it needs, and runs nothing at its installation', () => {
  expect(names).toContain('@reeve/sdk');
  expect(names).not.toContain('@reeve/dashboard');
  for (const name of names) {
    const { folder, manifest } = publishedOf(name);
    expect(manifest, name).toMatchObject({
      name,
      license: 'Apache-2.0',
      type: 'module',
      description: expect.any(String),
      keywords: expect.any(Array),
      engines: { node: expect.stringMatching(/^>=2/) },
    });
    expect(manifest.scripts, name).toBeUndefined();
    expect(readFileSync(join(folder, 'README.md'), 'utf8').length, name).toBeGreaterThan(300);
    expect(existsSync(join(folder, 'LICENSE')), name).toBe(true);
  }
  expect(project.withInstallScripts()).toEqual([]);
});

it('has built code and declarations behind every entry, and no sources', () => {
  for (const name of names) {
    const { folder, manifest } = publishedOf(name);
    const entries = Object.values(manifest.exports ?? {});
    const files = entries.flatMap((entry) => (typeof entry === 'string' ? [] : [entry.types, entry.default]));
    expect(files.filter((file) => !existsSync(join(folder, file)))).toEqual([]);
    expect(existsSync(join(folder, 'src')), name).toBe(false);
  }
});

/** Some of what is in bundles that have no map: direct and indirect, of the process, of threads, and loaded late. */
const withoutMaps: Readonly<Record<string, readonly string[]>> = {
  '@reeve/cli': [
    ...['@opentelemetry/sdk-trace', '@opentelemetry/semantic-conventions', 'fastify', 'find-my-way'],
    ...['jose', 'pg', 'pg-protocol', 'ws', 'openid-client', 'yaml', 'zod', '@marcbachmann/cel-js', 'bintrees'],
  ],
};

it('brings the licence of everything that is built into a package, and names it in the bill of materials', () => {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as LockFile;
  const { components } = billOfMaterials(lock, { version: '0.0.0', node: '24.0.0', date: '', id: '' });
  const listed = new Set(components.map(({ purl }) => purl));
  // The command has no map.
  const inside = names.flatMap((name) => {
    const ofMaps = packagesInMaps(publishedOf(name).folder).map((other) => ({ name, other }));
    return [...ofMaps, ...(withoutMaps[name] ?? []).map((other) => ({ name, other }))];
  });
  expect(inside).toContainEqual({ name: '@reeve/sdk', other: '@bufbuild/protobuf' });
  for (const { name, other } of inside) {
    const version = lock.packages[`node_modules/${other}`]?.version ?? '';
    const text = licenceText(licencesUnder(publishedOf(name).folder), other, version);
    expect(text, `${other} in ${name}`).toMatch(/copyright|no text of its licence/i);
    expect(listed, `${other} in ${name}`).toContain(`pkg:npm/${other.replace('@', '%40')}@${version}`);
  }
});

it('brings the licences of what is in the scripts and styles of the dashboard', () => {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as LockFile;
  const list = licencesUnder(join(publishedOf('@reeve/cli').folder, 'dashboard'));
  const { dependencies = {} } = lock.packages['packages/dashboard'] ?? {};
  const builds = new Set(['@tailwindcss/vite', '@vitejs/plugin-react', 'vite']);
  const used = Object.keys(dependencies).filter((name) => !name.startsWith('@reeve/') && !builds.has(name));
  // The last three come with others.
  for (const name of [...used, 'scheduler', 'zustand', 'd3-zoom']) {
    const version = lock.packages[`node_modules/${name}`]?.version ?? '';
    expect(licenceText(list, name, version), name).toMatch(/copyright/i);
  }
});

it('brings nothing with the SDK but the types of Node, and nothing at all with the command', () => {
  expect(alone['@reeve/sdk'].installed()).toEqual(['@reeve/sdk', '@types/node', 'undici-types']);
  expect(alone['@reeve/cli'].installed()).toEqual(['@reeve/cli']);
});

it('stays small', () => {
  expect(alone['@reeve/sdk'].megabytes()).toBeLessThan(10);
  expect(alone['@reeve/cli'].megabytes()).toBeLessThan(60);
});

it('starts the gateway by the installed command, with its dashboard and all its threads', async () => {
  await gateway.exercise(publishedOf('@reeve/cli').manifest.version);
});

it.for([20, 24])('asks the gateway by the installed SDK on Node %i', async (major) => {
  const node = await nodeOf(major);
  const agent = project.write('agent.mjs', agentModule);
  const { stdout, stderr } = await project.run(node, [agent], { GRPC: gateway.grpc, KEY: adminKey });
  expect(JSON.parse(stdout)).toEqual({
    decision: 'allow',
    path: '/reeve.v1.PolicyService/CheckAction',
    route: '/readyz',
  });
  expect(stderr).toBe('');
});

it('can be required where Node can', async () => {
  const common = project.write('common.cjs', commonModule);
  const { stdout } = await project.run(process.execPath, [common]);
  expect(JSON.parse(stdout)).toMatchObject({ connect: 'function' });
});

it('stops when it is told to', async () => {
  expect(await gateway.stop()).toBe(0);
});
