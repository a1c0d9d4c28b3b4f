// Every check and test of the Python client: "npm run python". Part of "npm test", which wants the counts in the file that
// REEVE_TEST_SUMMARY names.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pythonEnvironment } from './python-environment.ts';

interface Step {
  readonly name: string;
  readonly args: readonly string[];
}

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

const client = resolve('clients/python');
const steps: readonly Step[] = [
  { name: 'format', args: ['-m', 'ruff', 'format', '--check', '--quiet', '.'] },
  { name: 'lint', args: ['-m', 'ruff', 'check', '--quiet', '.'] },
  { name: 'types', args: ['-m', 'mypy'] },
  { name: 'generated code', args: ['tools/generate.py', '--check'] },
  { name: 'wheel', args: ['tools/check_wheel.py'] },
];

function runStep(python: string, { name, args }: Step): boolean {
  const { status, stdout, stderr } = spawnSync(python, args, { cwd: client, encoding: 'utf8' });
  process.stdout.write(`${status === 0 ? 'ok  ' : 'FAIL'} python: ${name}\n`);
  if (status !== 0) process.stdout.write(`${stdout}${stderr}\n`);
  return status === 0;
}

function runTests(python: string, args: readonly string[]): Counts {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-pytest-'));
  const report = join(folder, 'report.xml');
  try {
    const all = ['-m', 'pytest', '--quiet', '--color=no', `--junitxml=${report}`, ...args];
    const { status, stdout, stderr } = spawnSync(python, all, { cwd: client, encoding: 'utf8', timeout: 600_000 });
    process.stdout.write(`${status === 0 ? 'ok  ' : 'FAIL'} python: tests\n`);
    if (status !== 0) process.stdout.write(`${stdout}${stderr}\n`);
    return countsOf(readFileSync(report, 'utf8'));
  } catch (error) {
    process.stdout.write(`${String(error)}\n`);
    return { passed: 0, failed: 1, skipped: 0 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The sums of a report in the form of JUnit. */
function countsOf(report: string): Counts {
  const sum = (name: string) => Number(new RegExp(`<testsuite [^>]*\\b${name}="(\\d+)"`).exec(report)?.[1] ?? 0);
  const [failed, skipped] = [sum('failures') + sum('errors'), sum('skipped')];
  return { passed: sum('tests') - failed - skipped, failed, skipped };
}

function main(): Counts {
  const environment = pythonEnvironment();
  if ('missing' in environment) {
    process.stdout.write(`not run: the tests of the Python client, which need ${environment.missing}\n`);
    return { passed: 0, failed: 0, skipped: 1 };
  }
  const args = process.argv.slice(2);
  const failedSteps = args.length > 0 ? [] : steps.filter((step) => !runStep(environment.python, step));
  const counts = runTests(environment.python, args);
  counts.failed += failedSteps.length;
  return counts;
}

const counts = main();
const summary = process.env['REEVE_TEST_SUMMARY'];
if (summary !== undefined) writeFileSync(summary, JSON.stringify(counts));
process.stdout.write(`python: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`);
process.exitCode = counts.failed === 0 ? 0 : 1;
