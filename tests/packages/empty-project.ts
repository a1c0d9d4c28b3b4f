import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

interface Locked {
  readonly hasInstallScript?: boolean;
}

/** A project of somebody else, outside the repository. */
export class EmptyProject {
  readonly folder = mkdtempSync(join(tmpdir(), 'reeve-project-'));

  constructor() {
    this.write('package.json', '{"name":"project-of-somebody-else","private":true}');
  }

  write(name: string, text: string): string {
    const path = join(this.folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  async install(packages: readonly string[]): Promise<void> {
    const args = ['install', '--no-audit', '--no-fund', '--prefer-offline', ...packages];
    await run('npm', args, { cwd: this.folder });
  }

  /** Runs a program of this project and expects success. */
  async run(
    program: string,
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Promise<{ readonly stdout: string; readonly stderr: string }> {
    return await run(program, args, { cwd: this.folder, env: { ...process.env, ...env } });
  }

  /** The names of all packages in this project. */
  installed(): readonly string[] {
    return Object.keys(this.#locked())
      .filter((path) => path !== '')
      .map((path) => path.replace('node_modules/', ''))
      .toSorted();
  }

  /** What they take of a disk, whatever its blocks are. */
  megabytes(): number {
    const entries = readdirSync(join(this.folder, 'node_modules'), { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    return files.reduce((sum, file) => sum + statSync(file).size, 0) / 1e6;
  }

  /** Compiles a program in this project, and returns what the compiler says. */
  async compile(tsc: string, program: string, resolution: string): Promise<string> {
    const module = resolution === 'nodenext' ? 'nodenext' : 'esnext';
    const strict = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true };
    const checked = { skipLibCheck: false, noEmit: true, types: [], target: 'es2022' };
    const compilerOptions = { ...strict, ...checked, module, moduleResolution: resolution };
    this.write('program.mts', program);
    const config = this.write('tsconfig.json', JSON.stringify({ compilerOptions, files: ['program.mts'] }));
    return await this.run(tsc, ['-p', config]).then(
      () => '',
      ({ stdout, message }: { stdout?: string; message: string }) => stdout ?? message,
    );
  }

  /** Packages that would run a script at their installation. */
  withInstallScripts(): readonly string[] {
    return Object.entries(this.#locked()).flatMap(([path, { hasInstallScript }]) => (hasInstallScript ? [path] : []));
  }

  #locked(): Readonly<Record<string, Locked>> {
    const text = readFileSync(join(this.folder, 'package-lock.json'), 'utf8');
    return (JSON.parse(text) as { packages: Record<string, Locked> }).packages;
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Packs all packages and returns the tarballs by the name of their package. */
export async function packAll(): Promise<ReadonlyMap<string, string>> {
  const { stdout } = await run(process.execPath, [resolve('scripts/pack.ts')]);
  const tarballs = stdout.split('\n').filter((line) => line.endsWith('.tgz'));
  return new Map(tarballs.map((path) => [path.replace(/.*\/reeve-(.+)-\d+\.\d+\.\d+.*\.tgz$/, '@reeve/$1'), path]));
}
