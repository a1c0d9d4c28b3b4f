import { existsSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { signal } from '../kernel/signal.ts';
import { wordsOf } from './hierarchies.ts';

/** Whether it is gone. */
export function removeGroup(folder: string): boolean {
  try {
    rmdirSync(folder);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
  return true;
}

/** Has the kernel kill all that is in it. What is frozen in the first version must be let go to die, and runs no more. */
export function killAll(folder: string): void {
  try {
    if (existsSync(join(folder, 'cgroup.kill'))) return writeFileSync(join(folder, 'cgroup.kill'), '1');
    for (const pid of wordsOf(join(folder, 'cgroup.procs'))) if (Number(pid) > 1) signal(Number(pid), 'SIGKILL');
    if (existsSync(join(folder, 'freezer.state'))) writeFileSync(join(folder, 'freezer.state'), 'THAWED');
  } catch {
    // It is gone.
  }
}

/** How many processes are in it. */
export function countIn(folder: string): number {
  return wordsOf(join(folder, 'cgroup.procs')).length;
}

/** What the kernel says in a file of a group. Empty once the group is gone. */
export function valueIn(folder: string, file: string): string {
  try {
    return readFileSync(join(folder, file), 'utf8').trim();
  } catch {
    return '';
  }
}
