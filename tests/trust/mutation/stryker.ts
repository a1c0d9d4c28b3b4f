import type { ChildProcess } from 'node:child_process';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** docs/adr/0017-mutation-testing.md explains why this is here and not among the dependencies. */
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

/** Installs Stryker if needed. False if that is impossible. */
export function ensureStryker(): boolean {
  const isThere = () =>
    existsSync(join(modules, 'core/package.json')) && existsSync(join(modules, 'vitest-runner/package.json'));
  if (isThere()) return true;
  // Without peers, so that it uses the repository's Vitest above it.
  const options = ['--no-save', '--no-audit', '--no-fund', '--legacy-peer-deps', '--prefix', home];
  spawnSync('npm', ['install', ...options, ...packages], { stdio: ['ignore', 'ignore', 'inherit'] });
  return isThere();
}

/** Mutates the files in every known way, and runs the tests that cover each change, until done or out of time. */
export async function mutate(
  files: readonly string[],
  mostMs: number,
): Promise<{ mutants: readonly Mutant[]; says: string }> {
  const scratch = mkdtempSync(join(tmpdir(), 'reeve-mutation-'));
  const found = join(scratch, 'mutants.jsonl');
  const config = join(scratch, 'stryker.json');
  writeFileSync(found, '');
  writeFileSync(config, JSON.stringify(configOf(files, scratch)));
  const child = spawn('node_modules/.bin/node', [join(modules, 'core/bin/stryker.js'), 'run', config], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, REEVE_MUTANTS: found },
    // Its own process group, so that its workers end with it.
    detached: true,
  });
  let says = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (says += chunk.toString()));
  const end = () => endGroup(child);
  const timer = setTimeout(end, mostMs);
  process.once('exit', end);
  await once(child, 'close');
  process.off('exit', end);
  clearTimeout(timer);
  try {
    const lines = readFileSync(found, 'utf8').split('\n');
    const mutants = lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Mutant);
    return { mutants, says: says.slice(0, 1000) };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function configOf(files: readonly string[], scratch: string): object {
  return {
    testRunner: 'vitest',
    plugins: [join(modules, 'vitest-runner/dist/src/index.js'), resolve('tests/trust/mutation/write-mutants.ts')],
    mutate: files,
    // Tests check messages where they matter. Every other text would be a survivor that someone has to read.
    mutator: { excludedMutations: ['StringLiteral'] },
    vitest: { configFile: 'vitest.config.ts' },
    coverageAnalysis: 'perTest',
    concurrency: 2,
    timeoutMS: 30_000,
    reporters: ['write-mutants'],
    tempDirName: join(scratch, 'sandbox'),
    ignorePatterns: ['docs', 'bench', 'screenshots'],
    // Stryker would rewrite the tsconfig through an API that TypeScript 7 lacks.
    tsconfigFile: 'none.json',
    logLevel: 'error',
  };
}

function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // The process has just ended by itself.
  }
}
