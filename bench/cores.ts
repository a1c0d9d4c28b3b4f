import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** The cores of the servers and of the load process; undefined if they cannot be pinned. */
export interface Cores {
  readonly server: number | undefined;
  readonly load: number | undefined;
}

export function chooseCores(): Cores {
  const shown = spawnSync('taskset', ['-cp', String(process.pid)], { encoding: 'utf8' });
  const list = shown.status === 0 ? shown.stdout.split(':').at(-1)?.trim() : undefined;
  const allowed = list === undefined ? [] : expand(list);
  if (availableParallelism() < 2 || allowed.length < 2) return { server: undefined, load: undefined };
  return { server: allowed[0], load: allowed[1] };
}

/** The command, pinned to a core. `taskset` execs it, so the process id is the command's own. */
export function onCore(core: number | undefined, command: readonly string[]): readonly string[] {
  return core === undefined ? command : ['taskset', '-c', String(core), ...command];
}

function expand(list: string): number[] {
  return list.split(',').flatMap((range) => {
    const [first = Number.NaN, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}
