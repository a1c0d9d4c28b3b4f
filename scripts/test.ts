// The whole of "npm test": every test but the long ones, the static checks and the Python client beside them, then one
// closing line that counts all. With file names or a project it runs those alone.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assembleCommand } from './assemble-command.ts';
import { buildDashboard } from './build-dashboard.ts';
import { ensureTools } from './ensure-tools.ts';

const scratch = mkdtempSync(join(tmpdir(), 'reeve-test-'));
// Tests of the floor start the command as somebody without privileges.
chmodSync(scratch, 0o755);
const summary = join(scratch, 'summary.json');
const pythonSummary = join(scratch, 'python.json');

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

const nothing: Counts = { passed: 0, failed: 0, skipped: 0 };

function counted(file: string): Counts {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Counts;
  } catch {
    return { passed: 0, failed: 1, skipped: 0 };
  }
}

const usual = ['--project', 'all'];

function isPart(args: readonly string[]): boolean {
  return args.includes('--project') || args.some((arg) => !arg.startsWith('-'));
}

async function runTests(args: readonly string[], gateway: string): Promise<boolean> {
  const env = { ...process.env, REEVE_TEST_SUMMARY: summary, REEVE_TEST_GATEWAY: gateway };
  const child = spawn('node_modules/.bin/vitest', ['run', ...(isPart(args) ? [] : usual), ...args], {
    stdio: 'inherit',
    env,
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return code === 0;
}

/** Its output is held back until the tests are done. */
async function runBeside(script: string, more: NodeJS.ProcessEnv = {}): Promise<{ passed: boolean; said: string }> {
  const env = { ...process.env, ...more };
  const child = spawn('node_modules/.bin/node', [script], { stdio: ['ignore', 'pipe', 'inherit'], env });
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { passed: code === 0, said };
}

const untold = { passed: true, said: '' };

/** The static checks, and then the Python client. */
async function besideTests(gateway: string) {
  const checks = await runBeside('scripts/check.ts');
  const env = { REEVE_TEST_SUMMARY: pythonSummary, REEVE_TEST_GATEWAY: gateway };
  return { checks, python: await runBeside('scripts/test-python.ts', env) };
}

try {
  ensureTools();
  buildDashboard();
  const gateway = assembleCommand(join(scratch, 'command'));
  const args = process.argv.slice(2);
  const names = isPart(args);
  const aside = names ? undefined : besideTests(gateway);
  const testsPassed = await runTests(args, gateway);
  const { checks, python } = (await aside) ?? { checks: untold, python: untold };
  process.stdout.write(checks.said + python.said);
  const counts = [counted(summary), names ? nothing : counted(pythonSummary)];
  const sum = (what: keyof Counts) => counts.reduce((total, each) => total + each[what], 0);
  const failures = sum('failed') + (checks.passed ? 0 : 1);
  const skipped = sum('skipped');
  process.exitCode = checks.passed && testsPassed && failures === 0 ? 0 : 1;
  process.stdout.write(`${sum('passed')} passed, ${failures} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
