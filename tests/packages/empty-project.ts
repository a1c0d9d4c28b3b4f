import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

interface Locked {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
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

  /** The names of everything that a package has brought, itself included. */
  broughtBy(name: string): ReadonlySet<string> {
    const brought = new Set<string>();
    this.#visit(name, '', brought);
    return brought;
  }

  /** Packages that would run a script at their installation. */
  withInstallScripts(): readonly string[] {
    return Object.entries(this.#locked()).flatMap(([path, { hasInstallScript }]) => (hasInstallScript ? [path] : []));
  }

  #visit(name: string, from: string, brought: Set<string>): void {
    const locked = this.#locked();
    const path = [join(from, 'node_modules', name), join('node_modules', name)].find((place) => place in locked);
    if (path === undefined || brought.has(path)) return;
    brought.add(path);
    const { dependencies = {} } = locked[path] ?? {};
    for (const dependency of Object.keys(dependencies)) this.#visit(dependency, path, brought);
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
