// The whole of "npm test": the static checks, then every test, then one closing line that counts both.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildDashboard } from './build-dashboard.ts';
import { ensureTools } from './ensure-tools.ts';

const scratch = mkdtempSync(join(tmpdir(), 'reeve-test-'));
const summary = join(scratch, 'summary.json');

function run(program: string, args: readonly string[]): boolean {
  const env = { ...process.env, REEVE_TEST_SUMMARY: summary };
  return spawnSync(program, args, { stdio: 'inherit', env }).status === 0;
}

function counted(): { passed: number; failed: number; skipped: number } {
  try {
    return JSON.parse(readFileSync(summary, 'utf8')) as ReturnType<typeof counted>;
  } catch {
    return { passed: 0, failed: 1, skipped: 0 };
  }
}

try {
  ensureTools();
  buildDashboard();
  const checksPassed = run('node_modules/.bin/node', ['scripts/check.ts']);
  const testsPassed = run('node_modules/.bin/vitest', ['run', ...process.argv.slice(2)]);
  const { passed, failed, skipped } = counted();
  const failures = failed + (checksPassed ? 0 : 1);
  process.exitCode = checksPassed && testsPassed && failures === 0 ? 0 : 1;
  process.stdout.write(`${passed} passed, ${failures} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
