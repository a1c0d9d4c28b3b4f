import type { ChildProcess } from 'node:child_process';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** See docs/adr/0017-mutation-testing.md for why it is here and not among the dependencies. */
const version = '10.1.1';
const home = resolve('node_modules/.cache/stryker');
const modules = join(home, 'node_modules/@stryker-mutator');
const packages = ['core', 'vitest-runner'].map((name) => `@stryker-mutator/${name}@${version}`);

export type MutantStatus =
  | 'Killed'
  | 'Survived'
  | 'NoCoverage'
  | 'Timeout'
  | 'CompileError'
  | 'RuntimeError'
  | 'Ignored'
  | 'Pending';

export interface Mutant {
  readonly file: string;
  readonly line: number;
  readonly mutator: string;
  readonly replacement: string;
  readonly status: MutantStatus;
}

interface StrykerReport {
  readonly files: Readonly<
    Record<
      string,
      {
        readonly mutants: readonly {
          readonly mutatorName: string;
          readonly replacement?: string;
          readonly status: MutantStatus;
          readonly location: { readonly start: { readonly line: number } };
        }[];
      }
    >
  >;
}

/** Installs it where it is not; false where that cannot be done. */
export function ensureStryker(): boolean {
  const isThere = () =>
    existsSync(join(modules, 'core/package.json')) && existsSync(join(modules, 'vitest-runner/package.json'));
  if (isThere()) return true;
  // Without peers: it is to use the Vitest of the repository, which lies above it.
  const options = ['--no-save', '--no-audit', '--no-fund', '--legacy-peer-deps', '--prefix', home];
  spawnSync('npm', ['install', ...options, ...packages], { stdio: ['ignore', 'ignore', 'inherit'] });
  return isThere();
}

/** Changes the files in every way it knows, and runs the tests that cover each change. Undefined where time is up first. */
export async function mutate(files: readonly string[], mostMs: number): Promise<readonly Mutant[] | undefined> {
  const scratch = mkdtempSync(join(tmpdir(), 'reeve-mutation-'));
  const report = join(scratch, 'report.json');
  const config = join(scratch, 'stryker.json');
  writeFileSync(config, JSON.stringify(configOf(files, scratch, report)));
  const child = spawn('node_modules/.bin/node', [join(modules, 'core/bin/stryker.js'), 'run', config], {
    stdio: ['ignore', 'ignore', 'inherit'],
    // A group of its own, so that its workers end with it.
    detached: true,
  });
  const timer = setTimeout(() => endGroup(child), mostMs);
  await once(child, 'close');
  clearTimeout(timer);
  try {
    return existsSync(report) ? mutantsOf(JSON.parse(readFileSync(report, 'utf8')) as StrykerReport) : undefined;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function configOf(files: readonly string[], scratch: string, report: string): object {
  return {
    testRunner: 'vitest',
    plugins: [join(modules, 'vitest-runner/dist/src/index.js')],
    mutate: files,
    // What messages say is tested where it matters to somebody; every other text would be a survivor to be read.
    mutator: { excludedMutations: ['StringLiteral'] },
    vitest: { configFile: 'vitest.config.ts' },
    coverageAnalysis: 'perTest',
    concurrency: 2,
    timeoutMS: 30_000,
    reporters: ['json'],
    jsonReporter: { fileName: report },
    tempDirName: join(scratch, 'sandbox'),
    ignorePatterns: ['docs', 'bench', 'screenshots'],
    // It would rewrite this with an interface that TypeScript 7 does not have.
    tsconfigFile: 'none.json',
    logLevel: 'error',
  };
}

function mutantsOf({ files }: StrykerReport): Mutant[] {
  return Object.entries(files).flatMap(([file, { mutants }]) =>
    mutants.map(({ mutatorName, replacement = '', status, location }) => ({
      file,
      line: location.start.line,
      mutator: mutatorName,
      replacement,
      status,
    })),
  );
}

function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGTERM');
  } catch {
    // It has just ended by itself.
  }
}
