import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { compilerOf } from '../../packages/compiler-of.ts';
import { agentModule, commonModule, typedModule } from '../../packages/consumers.ts';
import { EmptyProject, packAll } from '../../packages/empty-project.ts';
import { nodeOf } from '../../packages/node-of.ts';
import { adminKey, StartedGateway } from '../../packages/started-gateway.ts';
import type { Trial } from './trial.ts';
import { tryBinary } from './try-binary.ts';
import { tryDemo } from './try-demo.ts';
import { validateBill } from './validate-bill.ts';

/** What one trial of what a release has showed. */
export interface PackageResult {
  readonly name: string;
  readonly failure: string | undefined;
}

const run = promisify(execFile);
const majors = [20, 22, 24] as const;

/** Does with the packages and executables what strangers do with them, outside the repository. */
export async function runPackages(say: (line: string) => void, tell: (result: PackageResult) => void): Promise<void> {
  const trial: Trial = async (name, work) => {
    const failure = await work().then(() => undefined, whyNot);
    tell({ name, failure });
  };
  say('packing all packages and installing them into empty projects, which takes a minute or two');
  const tarballs = await packAll();
  const of = (...names: readonly string[]) => names.map((name) => tarballs.get(`@reeve/${name}`) ?? '');
  using command = new EmptyProject();
  await command.install([...tarballs.values()]);
  const reeve = join(command.folder, 'node_modules/.bin/reeve');
  const path = `${dirname(process.execPath)}:/usr/bin:/bin`;
  const { version } = JSON.parse(readFileSync('packages/cli/package.json', 'utf8')) as { version: string };
  await using gateway = await StartedGateway.start(reeve, { PATH: path });
  await trial('the installed command serves, with its dashboard and all threads', () => gateway.exercise(version));
  await trial('the installed command shows the demo', () => tryDemo(reeve, path));

  using agents = new EmptyProject();
  await agents.install(of('contract', 'grpc-server', 'sdk'));
  for (const major of majors) {
    await trial(`the SDK alone asks on Node ${major}, by import`, () => ask(agents, major, gateway));
    await trial(`the SDK alone can be required on Node ${major}`, () => require(agents, major));
  }
  for (const resolution of ['nodenext', 'bundler']) {
    await trial(`strict programs compile, by ${resolution}`, () => compile(agents, resolution));
  }
  await trial('npm brings Node 24 to the command where only another is installed', () => bring([...tarballs.values()]));
  await tryBinary(trial, version);
  await trial('the bill of materials is valid', () => validateBill(version));
  await trial('the gateway stops when it is told to', async () => assert.equal(await gateway.stop(), 0));
}

async function ask(agents: EmptyProject, major: number, gateway: StartedGateway): Promise<void> {
  const agent = agents.write('agent.mjs', agentModule);
  const env = { GRPC: gateway.grpc, KEY: adminKey };
  const { stdout, stderr } = await agents.run(await nodeOf(major), [agent], env);
  assert.equal((JSON.parse(stdout) as { decision: string }).decision, 'allow');
  assert.equal(stderr, '');
}

async function require(agents: EmptyProject, major: number): Promise<void> {
  const node = await nodeOf(major);
  const { stdout: can } = await run(node, ['-p', 'process.features.require_module === true']);
  if (can.trim() !== 'true') return;
  const { stdout } = await agents.run(node, [agents.write('common.cjs', commonModule)]);
  assert.equal((JSON.parse(stdout) as { connect: string }).connect, 'function');
}

async function compile(agents: EmptyProject, resolution: string): Promise<void> {
  assert.equal(await agents.compile(await compilerOf('our'), typedModule, resolution), '');
}

/** What the command itself advises on another Node. */
async function bring(tarballs: readonly string[]): Promise<void> {
  using elsewhere = new EmptyProject();
  const packages = [`node-linux-${process.arch}@24`, ...tarballs].flatMap((one) => ['-p', one]);
  const env = { PATH: `${dirname(await nodeOf(20))}:/usr/bin:/bin` };
  const { stdout } = await elsewhere.run('npx', ['--yes', ...packages, 'reeve', 'policy', 'init', 'tried'], env);
  assert.match(stdout, /Wrote tried/);
}

function whyNot(error: unknown): string {
  const { message, stdout } = error as { message?: string; stdout?: string };
  return `${message ?? String(error)} ${stdout ?? ''}`.trim();
}
