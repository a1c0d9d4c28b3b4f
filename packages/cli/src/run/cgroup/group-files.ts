import { existsSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { KeptFile } from '../kernel/kept-file.ts';
import { signal } from '../kernel/signal.ts';
import { wordsIn } from './hierarchies.ts';

/** Whether it is gone. */
export function removeGroup(folder: string): boolean {
  try {
    rmdirSync(folder);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
  return true;
}

/** Has the kernel kill all that is in a group, whenever it is called, also when no descriptor is left. */
export function killerOf(folder: string): () => void {
  if (existsSync(join(folder, 'cgroup.kill'))) {
    const file = new KeptFile(join(folder, 'cgroup.kill'), 'w');
    return () => file.write('1');
  }
  const processes = new KeptFile(join(folder, 'cgroup.procs'), 'r');
  const state = existsSync(join(folder, 'freezer.state'))
    ? new KeptFile(join(folder, 'freezer.state'), 'w')
    : undefined;
  return () => {
    for (const pid of wordsIn(processes.read())) if (Number(pid) > 1) signal(Number(pid), 'SIGKILL');
    // What is frozen in the first version must be let go to die, and runs no more.
    state?.write('THAWED');
  };
}
