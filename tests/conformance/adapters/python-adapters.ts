import type { ExecFileException } from 'node:child_process';
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { bootstrapKey, TestGateway } from '../../harness/gateway.ts';
import type { AdapterResult } from './run-adapters.ts';

const run = promisify(execFile);
const client = resolve('clients/python');
const examples = 'examples/python';
/** Frameworks that would tell their makers of each run. */
const quiet = { CREWAI_DISABLE_TELEMETRY: 'true', CREWAI_TRACING_ENABLED: 'false', OTEL_SDK_DISABLED: 'true' };
const room = { maxBuffer: 64_000_000, timeout: 1_200_000 };

/** Runs the table on the named subjects, or on the SDK and all adapters for Python. */
export async function runPythonTable(
  python: string,
  tell: (result: AdapterResult) => void,
  subjects: readonly string[] = [],
): Promise<readonly AdapterResult[]> {
  const env = { ...process.env, ...quiet, PYTHONPATH: 'src:tests' };
  const { stdout } = await run(python, ['-m', 'adapters', ...subjects], { cwd: client, env, ...room });
  // Frameworks print what they please.
  const results = stdout
    .split('\n')
    .filter((line) => line.startsWith('{"name": '))
    .map((line) => JSON.parse(line) as AdapterResult);
  if (results.length === 0) throw new Error(`the table gave no results: ${stdout.slice(-500)}`);
  for (const result of results) tell(result);
  return results;
}

/**
 * What the table does not speak of: the interrupts of frameworks, handoffs, streams, and the types of the client with its
 * adapters. Pyright takes too long for every run of the tests, and sees more where the frameworks are installed.
 */
export async function runPythonTests(python: string): Promise<void> {
  const env = { ...process.env, ...quiet };
  for (const args of [
    ['-m', 'pytest', '--quiet', '--color=no', '-W', 'ignore', ...filesOf('tests/adapters', /^try_.*\.py$/)],
    ['-m', 'mypy', ...filesOf('src/reeve/adapters', /\.py$/)],
    ['-m', 'basedpyright', '--pythonpath', python],
  ]) {
    await run(python, args, { cwd: client, env, ...room }).catch((error: ExecFileException) => {
      throw new Error(`${args.join(' ')}: ${error.stdout ?? ''}${error.stderr ?? ''}`);
    });
  }
}

function filesOf(folder: string, names: RegExp): readonly string[] {
  return readdirSync(resolve(client, folder)).flatMap((name) => (names.test(name) ? `${folder}/${name}` : []));
}

export function pythonExamples(): readonly string[] {
  return readdirSync(examples).filter((name) => name.endsWith('.py'));
}

/** Runs an example as its reader would, and throws what is wrong. */
export async function runPythonExample(python: string, name: string): Promise<void> {
  await using gateway = await TestGateway.start({ args: ['--policy', 'examples/policies'] });
  const env = {
    ...process.env,
    ...quiet,
    PYTHONPATH: resolve(client, 'src'),
    REEVE_GRPC_ADDR: gateway.grpc,
    REEVE_API_KEY: bootstrapKey,
  };
  const { stdout } = await run(python, [`${examples}/${name}`], { env, ...room });
  for (const line of ['search_docs: refunds.md says: five days.', 'delete_customer: Denied by policy: ']) {
    if (!stdout.includes(line)) throw new Error(`the example does not print "${line}": ${stdout}`);
  }
  if (stdout.includes('is gone')) throw new Error('the example deletes a customer');
}
