import { spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { carriers, programs } from './corpus.ts';

const nobody = 65_534;
const mostMs = 3000;

/** A folder in which shells find nothing but programs that record that they ran. */
export class Jail {
  readonly folder: string;
  readonly #bin: string;
  #runs = 0;

  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), 'reeve-shell-'));
    this.#bin = join(this.folder, 'bin');
    mkdirSync(this.#bin);
    mkdirSync(join(this.folder, 'records'), { mode: 0o777 });
    mkdirSync(join(this.folder, 'work'));
    for (const name of programs) {
      const rest = behaviours[name as string];
      const file = join(this.#bin, name);
      writeFileSync(file, `#!/bin/sh\necho ${name} >> "$__RECORD"\n${rest ?? ''}\n`);
      chmodSync(file, 0o755);
    }
    for (const name of carriers) {
      const real = `/usr/bin/${name}`;
      if (existsSync(real)) symlinkSync(real, join(this.#bin, name));
    }
    mkdirSync(join(this.folder, 'work', 'data'));
    writeFileSync(join(this.folder, 'work', 'data', 'f'), '1 2 3\na "b" c\n7 a/b 9\n');
    for (const shell of ['bash', 'sh', 'dash']) {
      symlinkSync(shellPaths[shell === 'bash' ? 'bash' : 'dash'], join(this.#bin, shell));
    }
    chmodSync(this.folder, 0o755);
    if (process.getuid?.() === 0) {
      for (const part of ['records', 'work']) chownSync(join(this.folder, part), nobody, nobody);
    }
  }

  /** The file that no line may write unseen, if it was. */
  #opened(work: string): readonly string[] {
    const isThere = existsSync(join(work, opened));
    rmSync(work, { recursive: true, force: true });
    return isThere ? [opened] : [];
  }

  /** Runs a line in a folder of its own, and says which programs ran. */
  async run(shell: ShellName, line: string): Promise<ReadonlySet<string>> {
    const nth = String(this.#runs++);
    const record = join(this.folder, 'records', nth);
    const work = join(this.folder, 'work', nth);
    mkdirSync(work);
    if (process.getuid?.() === 0) chownSync(work, nobody, nobody);
    const limits = ['--cpu=2', '--fsize=100000', '--nofile=64', '--core=0', '--nproc=300', '--as=2000000000'];
    const options = shell === 'bash' ? ['--noprofile', '--norc'] : [];
    const child = spawn('/usr/bin/prlimit', [...limits, shellPaths[shell], ...options, '-c', line], {
      cwd: work,
      env: { PATH: this.#bin, HOME: work, __RECORD: record },
      stdio: 'ignore',
      detached: true,
      ...(process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {}),
    });
    const end = () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // Nothing of it is left.
      }
    };
    const timer = setTimeout(end, mostMs);
    await new Promise((done, failed) => child.once('exit', done).once('error', failed));
    clearTimeout(timer);
    end();
    const ran = existsSync(record) ? readFileSync(record, 'utf8').split('\n').filter(Boolean) : [];
    rmSync(record, { force: true });
    return new Set([...ran, ...this.#opened(work)]);
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The name of a file that stands for every file. */
export const opened = 'opened';

const behaviours: Readonly<Record<string, string>> = {
  say: `printf '%s\\n' "$*"`,
  cat: 'while IFS= read -r l; do printf "%s\\n" "$l"; done',
  wc: 'echo 3',
  python3:
    'case "$1" in -|"") t=; while IFS= read -r l || [ -n "$l" ]; do t="$t $l"; done; ' +
    'printf "program:%s\\n" "$t" >> "$__RECORD";; esac',
};

export const shellPaths = { bash: '/bin/bash', dash: '/bin/dash' } as const;
export type ShellName = keyof typeof shellPaths;

export function isInstalled(shell: ShellName): boolean {
  return existsSync(shellPaths[shell]);
}
