import { spawnSync } from 'node:child_process';
import type { Trials } from './trials.ts';

/** A program of a Debian package, installed if it can be. Undefined if not, which is then said. */
export function debianProgram(name: string, { say, missing, uses }: Trials, versionFlag = '--version'): boolean {
  const version = () => spawnSync(name, [versionFlag], { encoding: 'utf8' });
  if (version().error !== undefined) {
    say(`installing ${name}`);
    const args = ['install', '--yes', '--no-install-recommends', name];
    spawnSync('apt-get', args, { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } });
  }
  const { error, stdout } = version();
  if (error !== undefined) {
    missing(`${name}: install the package ${name} of Debian, and run again as root`);
    return false;
  }
  uses(name, /\d+\.\d[\w.+~-]*/.exec(stdout)?.[0] ?? 'unknown version');
  return true;
}
