// npm run coverage: which lines and branches of the packages tests reach, into docs/coverage.md. There is no limit to pass,
// and tests that fail are named on the page. `-- --only packages` or `-- --only processes` measures one part anew, and `--
// --only page` none of them. Names of folders or files say which tests start the processes that are measured.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { coveragePage } from './measuring/coverage-page.ts';
import type { StoredCounts } from './measuring/process-counts.ts';
import { ProcessCounts } from './measuring/process-counts.ts';
import type { FileCoverage } from './measuring/reached.ts';
import { reachedIn } from './measuring/reached.ts';
import type { TestRun } from './measuring/run-vitest.ts';
import { runVitest } from './measuring/run-vitest.ts';

const { values, positionals } = parseArgs({ options: { only: { type: 'string' } }, allowPositionals: true });
const { only } = values;
const tests = positionals.length === 0 ? ['tests/e2e', 'tests/doors'] : positionals;
const page = 'docs/coverage.md';
const kept = 'node_modules/.cache/reeve-coverage';

interface Measured<Found> extends TestRun {
  readonly at: string;
  readonly found: Found;
}

/** Vitest takes the names of folders as parts of paths. */
const folders = readdirSync('packages').map((name) => `packages/${name}/src/`);

/** The tests beside the sources, measured by Vitest. */
async function measurePackages(scratch: string): Promise<Measured<readonly FileCoverage[]>> {
  const run = await runVitest(
    [
      ...[...folders, '--coverage.enabled', '--coverage.provider=v8', '--coverage.reportOnFailure'],
      ...['--coverage.reporter=json', `--coverage.reportsDirectory=${scratch}`],
      ...['--coverage.include=packages/*/src/**/*.{ts,tsx}', '--coverage.exclude=**/gen/**'],
      ...['--coverage.exclude=**/*.test.ts', '--coverage.exclude=**/testkit/**'],
    ],
    scratch,
  );
  const files = JSON.parse(readFileSync(join(scratch, 'coverage-final.json'), 'utf8')) as Record<string, FileCoverage>;
  return { ...run, at: today(), found: Object.values(files) };
}

interface ProcessesOf {
  readonly tests: readonly string[];
  readonly counts: StoredCounts;
}

const own = new RegExp(`^${resolve('packages')}/[^/]+/src/`);

/** The processes that other tests start. What they write is taken in as it comes: together it would fill a disk. */
async function measureProcesses(scratch: string): Promise<Measured<ProcessesOf>> {
  const folder = join(scratch, 'processes');
  mkdirSync(folder);
  const counts = new ProcessCounts();
  const take = () => counts.take(folder, (file) => own.test(file));
  const timer = setInterval(take, 2000);
  const run = await runVitest(tests, scratch, { REEVE_TEST_COVERAGE: folder });
  clearInterval(timer);
  take();
  return { ...run, at: today(), found: { tests, counts: counts.toJSON() } };
}

function today(): string {
  return new Date().toISOString().slice(0, 10);
}

/** Measures a part, or takes what the last run found of it. */
async function part<Found>(
  name: 'packages' | 'processes',
  only: string | undefined,
  measure: (scratch: string) => Promise<Measured<Found>>,
): Promise<Measured<Found>> {
  const file = join(kept, `${name}.json`);
  if (only !== undefined && only !== name && existsSync(file)) {
    return JSON.parse(readFileSync(file, 'utf8')) as Measured<Found>;
  }
  const scratch = mkdtempSync(join(tmpdir(), 'reeve-coverage-'));
  try {
    const measured = await measure(scratch);
    mkdirSync(kept, { recursive: true });
    writeFileSync(file, JSON.stringify(measured));
    return measured;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

const packages = await part('packages', only, measurePackages);
const processes = await part('processes', only, measureProcesses);
const counts = ProcessCounts.from(processes.found.counts);
const files = new Map(packages.found.map((file) => [file.path, reachedIn(file, counts)]));
const parts = [
  { ...packages, what: 'beside the sources' },
  { ...processes, what: 'processes of other tests' },
];
writeFileSync(page, coveragePage(files, parts, { count: counts.processes, tests: processes.found.tests }));
spawnSync('node_modules/.bin/biome', ['format', '--write', page]);
for (const name of parts.flatMap(({ failed }) => failed))
  process.stdout.write(`failed while it was measured: ${name}\n`);
process.stdout.write(`wrote ${page}\n`);
