import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { connect } from '@reeve/sdk';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { archiveExecutable, writeChecksums, writeInstaller } from '../../scripts/release/release-files.ts';
import { Installation } from './install-script.ts';
import { ReleaseServer } from './release-server.ts';
import { adminKey, StartedGateway } from './started-gateway.ts';

const run = promisify(execFile);
const { version } = JSON.parse(readFileSync('packages/cli/package.json', 'utf8')) as { version: string };
const release = mkdtempSync(join(tmpdir(), 'reeve-release-'));
const somebody = new Installation();

/** The executable of this machine, built and released, and installed as somebody does who has no Node. */
beforeAll(async () => {
  const { stdout } = await run(process.execPath, ['scripts/build-binary.ts', process.arch]);
  archiveExecutable(stdout.trim().split('\n').at(-1) ?? '', version, release);
  writeInstaller(release, undefined);
  writeChecksums(release);
  await using server = await ReleaseServer.start(release);
  const { stderr } = await somebody.run({ REEVE_RELEASE_URL: server.url }, join(release, 'install.sh'));
  expect(stderr).toBe('');
}, 600_000);

afterAll(() => {
  somebody[Symbol.dispose]();
  rmSync(release, { recursive: true, force: true });
});

it('says its version', async () => {
  const { stdout } = await run(somebody.executable, ['--version'], { env: { HOME: somebody.home } });
  expect(stdout.split('\n')[0]).toBe(`reeve ${version}`);
});

it('serves without Node: the dashboard, every thread, and a check over gRPC', async () => {
  await using gateway = await StartedGateway.start(somebody.executable, {});
  await gateway.exercise(version);
  const reeve = connect({ address: gateway.grpc, apiKey: adminKey });
  const agent = await reeve.register({ orgId: 'acme', teamId: 'core', agentId: 'executable' });
  expect(await agent.check({ tool: 'search' })).toMatchObject({ decision: 'allow', source: 'gateway' });
  reeve.close();
  expect(await gateway.stop()).toBe(0);
});

it('has its policy packs inside', async () => {
  const options = { cwd: somebody.home, env: { HOME: somebody.home } };
  await run(somebody.executable, ['policy', 'init', 'policies', '--pack', 'mcp'], options);
  expect((await run(somebody.executable, ['policy', 'test', 'policies'], options)).stdout).toMatch(/cases passed/);
});
