import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

interface Said {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Somebody who runs `install.sh` on a machine, with a home of their own and nothing of the repository in the PATH. */
export class Installation {
  readonly home = mkdtempSync(join(tmpdir(), 'reeve-home-'));
  /** Where it goes by itself. */
  readonly executable = join(this.home, '.local/bin/reeve');

  /** Runs the script, or another form of it. */
  async run(env: Readonly<Record<string, string>>, script = resolve('install.sh')): Promise<Said> {
    const all = { HOME: this.home, PATH: '/usr/local/bin:/usr/bin:/bin', TMPDIR: this.home, ...env };
    return await promisify(execFile)('sh', [script], { env: all, cwd: this.home }).then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      ({ code, stdout, stderr }: Said) => ({ code, stdout, stderr }),
    );
  }

  [Symbol.dispose](): void {
    rmSync(this.home, { recursive: true, force: true });
  }
}
