import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readManifest } from '../../../scripts/packages/public-packages.ts';
import { pythonEnvironment } from '../../../scripts/python-environment.ts';
import { cacheFolder } from '../tools.ts';
import { runPythonTable } from './python-adapters.ts';
import type { AdapterResult } from './run-adapters.ts';

const run = promisify(execFile);
const folder = join(cacheFolder, 'adapters-lowest');
const hook = './tests/conformance/adapters/lowest-frameworks.mjs';
const room = { maxBuffer: 64_000_000, timeout: 1_200_000 };
/** What the tests import beside the frameworks. */
const beside = { zod: '4.6.7' };
/** The lowest versions of these are the ones that the other tests use anyway. */
const testedElsewhere = new Set(['@anthropic-ai/claude-agent-sdk', '@modelcontextprotocol/sdk']);

/** The subjects of the table that each extra of the Python client is for. */
const subjectsOf: Readonly<Record<string, readonly string[]>> = {
  langchain: ['langchain', 'langgraph'],
  'openai-agents': ['openai-agents'],
  crewai: ['crewai'],
  'pydantic-ai': ['pydantic-ai'],
};

/** Runs the table on the lowest versions that the peer dependencies of the SDK admit. */
export async function runLowest(): Promise<readonly AdapterResult[]> {
  const dependencies = { ...lowestPeers(), ...beside };
  const manifest = join(folder, 'package.json');
  const wanted = `${JSON.stringify({ private: true, type: 'module', dependencies }, undefined, 2)}\n`;
  if (!existsSync(manifest) || readFileSync(manifest, 'utf8') !== wanted) {
    mkdirSync(folder, { recursive: true });
    const named = Object.entries(dependencies).map(([name, version]) => `${name}@${version}`);
    await run('npm', ['install', '--no-audit', '--no-fund', '--no-save', '--prefix', folder, ...named], room);
    writeFileSync(manifest, wanted);
  }
  const program = ['--import', hook, 'tests/conformance/adapters/lowest-table.ts'];
  const { stdout } = await run(process.execPath, program, room);
  const results = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as readonly AdapterResult[];
  return results.filter(({ versions }) => Object.keys(versions).length > 0);
}

/** Runs the table on the lowest versions that the extras of the Python client admit, each in an environment of its own. */
export async function runLowestPython(): Promise<readonly AdapterResult[]> {
  const results: AdapterResult[] = [];
  for (const [extra, pinned] of lowestExtras()) {
    mkdirSync(cacheFolder, { recursive: true });
    const file = join(cacheFolder, `lowest-${extra}.txt`);
    writeFileSync(file, `${pinned}\ngrpcio\nprotobuf<8\nPyYAML\npytest\n`);
    const environment = pythonEnvironment(file);
    if ('missing' in environment) throw new Error(environment.missing);
    results.push(...(await runPythonTable(environment.python, () => {}, subjectsOf[extra])));
  }
  return results;
}

function lowestPeers(): Readonly<Record<string, string>> {
  const { optionalPeers = {} } = readManifest('packages/sdk');
  const light = Object.entries(optionalPeers).filter(([name]) => !testedElsewhere.has(name));
  return Object.fromEntries(
    light.map(([name, range]) => [name, `${range.replace('>=', '')}.0.0`.split('.').slice(0, 3).join('.')]),
  );
}

function lowestExtras(): readonly (readonly [string, string])[] {
  const [, extras = ''] = readFileSync('clients/python/pyproject.toml', 'utf8').split(
    '[project.optional-dependencies]\n',
  );
  const lines = extras.split('\n\n')[0] ?? '';
  return [...lines.matchAll(/^(\S+) = \["(\S+)>=([^\s,"]+)(?:,\S+)?"\]$/gm)].map(
    ([, extra = '', name = '', version = '']) => [extra, `${name}==${version}`],
  );
}
