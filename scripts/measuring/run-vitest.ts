import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** How the tests of a part went. */
export interface TestRun {
  readonly passed: number;
  readonly failed: readonly string[];
}

interface Report {
  readonly numPassedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

/** Runs tests, and tells which failed. Measured code is slower, so that they get more time. */
export async function runVitest(
  args: readonly string[],
  scratch: string,
  env: Readonly<Record<string, string>> = {},
): Promise<TestRun> {
  const report = join(scratch, 'tests.json');
  const told = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const child = spawn('node_modules/.bin/vitest', ['run', '--project', 'all', ...args, ...told], {
    stdio: 'inherit',
    env: { ...process.env, REEVE_TEST_PATIENCE_MS: '300000', ...env },
  });
  await once(child, 'close');
  return read(JSON.parse(readFileSync(report, 'utf8')) as Report);
}

/** A file that could not run at all has no tests, and has failed as a whole. */
function read({ numPassedTests, testResults }: Report): TestRun {
  const failed = testResults.flatMap(({ name, status, assertionResults }) => {
    const file = name.slice(process.cwd().length + 1);
    const tests = assertionResults
      .filter((test) => test.status === 'failed')
      .map((test) => `${file}: ${test.fullName}`);
    return tests.length === 0 && status === 'failed' ? [file] : tests;
  });
  return { passed: numPassedTests, failed };
}
