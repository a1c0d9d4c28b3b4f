import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { wordsOf } from './hierarchies.ts';
import { nameOfRun } from './leftovers.ts';

/**
 * Lets the groups below a group be limited by a controller, and returns how to take that back. The kernel does so only if
 * no process is in the group itself, so this process steps aside if it is the only one.
 */
export function enableControllers(folder: string, controller: string): () => void {
  const enabled = join(folder, 'cgroup.subtree_control');
  if (wordsOf(enabled).includes(controller)) return () => undefined;
  const back = stepAside(folder);
  const disable = () => {
    writeFileSync(enabled, `-${controller}`);
    back();
  };
  try {
    writeFileSync(enabled, `+${controller}`);
  } catch (error) {
    back();
    throw error;
  }
  return disable;
}

function stepAside(folder: string): () => void {
  const own = String(process.pid);
  const processes = wordsOf(join(folder, 'cgroup.procs'));
  // The root of the tree has no type, and may hold processes.
  if (!existsSync(join(folder, 'cgroup.type')) || processes.length !== 1 || processes[0] !== own)
    return () => undefined;
  const aside = join(folder, `${nameOfRun()}-keeper`);
  mkdirSync(aside);
  writeFileSync(join(aside, 'cgroup.procs'), own);
  return () => {
    writeFileSync(join(folder, 'cgroup.procs'), own);
    rmdirSync(aside);
  };
}
