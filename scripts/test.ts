// The whole of "npm test": every test, the static checks beside them, then one closing line that counts both. With file
// names it runs those alone.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildDashboard } from './build-dashboard.ts';
import { bundleGateway } from './bundle-gateway.ts';
import { ensureTools } from './ensure-tools.ts';

const scratch = mkdtempSync(join(tmpdir(), 'reeve-test-'));
const summary = join(scratch, 'summary.json');

function counted(): { passed: number; failed: number; skipped: number } {
  try {
    return JSON.parse(readFileSync(summary, 'utf8')) as ReturnType<typeof counted>;
  } catch {
    return { passed: 0, failed: 1, skipped: 0 };
  }
}

async function runTests(args: readonly string[], gateway: string): Promise<boolean> {
  const env = { ...process.env, REEVE_TEST_SUMMARY: summary, REEVE_TEST_GATEWAY: gateway };
  const child = spawn('node_modules/.bin/vitest', ['run', ...args], { stdio: 'inherit', env });
  const [code] = (await once(child, 'close')) as [number | null];
  return code === 0;
}

/** Their output is held back until the tests are done. */
async function runChecks(): Promise<{ passed: boolean; said: string }> {
  const child = spawn('node_modules/.bin/node', ['scripts/check.ts'], { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { passed: code === 0, said };
}

try {
  ensureTools();
  buildDashboard();
  const gateway = bundleGateway(join(scratch, 'gateway'));
  const args = process.argv.slice(2);
  const names = args.some((arg) => !arg.startsWith('-'));
  const checking = names ? Promise.resolve({ passed: true, said: '' }) : runChecks();
  const testsPassed = await runTests(args, gateway);
  const checks = await checking;
  process.stdout.write(checks.said);
  const { passed, failed, skipped } = counted();
  const failures = failed + (checks.passed ? 0 : 1);
  process.exitCode = checks.passed && testsPassed && failures === 0 ? 0 : 1;
  process.stdout.write(`${passed} passed, ${failures} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
