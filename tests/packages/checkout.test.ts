import { execFile, execFileSync } from 'node:child_process';
import { cpSync, existsSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { nodeOf } from './node-of.ts';
import { adminKey, StartedGateway } from './started-gateway.ts';

const run = promisify(execFile);
const checkout = mkdtempSync(join(tmpdir(), 'reeve-checkout-'));
const { version } = JSON.parse(readFileSync('packages/cli/package.json', 'utf8')) as { version: string };
/** Of a machine with Node 20, and nothing of this checkout. */
const env: Record<string, string> = {};

/** A clone of what is here, committed or not, and `npm install` in it, as the README says it. */
beforeAll(async () => {
  const own = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'));
  env['PATH'] = [dirname(await nodeOf(20)), ...own].join(delimiter);
  env['HOME'] = process.env['HOME'] ?? '';
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    encoding: 'utf8',
  });
  for (const name of listed.split('\0').filter((path) => path !== '' && existsSync(path)))
    cpSync(name, join(checkout, name));
  await run('npm', ['install', '--prefer-offline'], { cwd: checkout, env });
}, 900_000);

afterAll(() => rmSync(checkout, { recursive: true, force: true }));

function megabytes(folder: string): number {
  const entries = readdirSync(join(checkout, folder), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return files.reduce((sum, file) => sum + statSync(file).size, 0) / 1e6;
}

it('brings what the gateway runs on, and nothing that only tests and checks need', () => {
  const there = readdirSync(join(checkout, 'node_modules'));
  expect(there).toContain('fastify');
  for (const name of [
    'vitest',
    'openai',
    'ai',
    '@langchain',
    '@modelcontextprotocol',
    '@biomejs',
    'knip',
    'typescript',
  ])
    expect(there).not.toContain(name);
  expect(megabytes('node_modules')).toBeLessThan(160);
  expect(megabytes('runtime')).toBeLessThan(140);
});

it('brings a Node that the sources run on, for npm, npx and the command', async () => {
  expect(lstatSync(join(checkout, 'node_modules/.bin/node')).isSymbolicLink()).toBe(true);
  const { stdout } = await run('npx', ['node', '--version'], { cwd: checkout, env });
  expect(Number.parseInt(stdout.slice(1), 10)).toBeGreaterThanOrEqual(24);
});

it('serves, with its dashboard and all its threads', async () => {
  const { PATH = '' } = env;
  await using gateway = await StartedGateway.start(join(checkout, 'node_modules/.bin/reeve'), { PATH });
  await gateway.exercise(version);
  expect(await gateway.stop()).toBe(0);
});

it('says what is missing where the packages of development cannot be installed', async () => {
  const cache = mkdtempSync(join(checkout, 'empty-cache-'));
  const away = { npm_config_registry: 'http://127.0.0.1:9', npm_config_cache: cache, npm_config_fetch_retries: '0' };
  const failed = await run('npm', ['run', 'lint'], { cwd: checkout, env: { ...env, ...away } }).then(
    () => undefined,
    (error: { code: number; stderr: string }) => error,
  );
  expect(failed?.code).toBe(1);
  expect(failed?.stderr).toContain('the packages of development could not be installed');
  // What was there is there.
  expect(existsSync(join(checkout, 'node_modules/fastify'))).toBe(true);
});

it('installs them when they are wanted, and not again, and runs an example with them', async () => {
  const { PATH = '' } = env;
  const example = async (file: string, more: Readonly<Record<string, string>> = {}) =>
    (await run('npm', ['run', 'example', '--', file], { cwd: checkout, env: { ...env, ...more } })).stdout;
  expect(await example('--version')).toMatch(/installing the packages of development[^]*v2[4-9]\./);
  expect(existsSync(join(checkout, 'node_modules/vitest'))).toBe(true);
  await using gateway = await StartedGateway.start(join(checkout, 'node_modules/.bin/reeve'), { PATH });
  const said = await example('examples/typescript/mcp.ts', {
    REEVE_API_KEY: adminKey,
    REEVE_GRPC_ADDR: gateway.grpc,
  });
  expect(said).toContain('says: five days.');
  expect(said).not.toContain('installing');
}, 900_000);
