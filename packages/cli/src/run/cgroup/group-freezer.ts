import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Freezes, StandStill } from '../kernel/freezer.ts';
import { countIn, valueIn } from './group-files.ts';

const roundMs = 2;
const deadlineMs = 30_000;

/** Freezes a control group of the second version. What is frozen there can be killed, and takes no notice of signals. */
export class GroupFreezer implements Freezes {
  readonly #folder: string;
  #isFrozen = false;

  constructor(folder: string) {
    this.#folder = folder;
  }

  get isFrozen(): boolean {
    return this.#isFrozen;
  }

  async freeze(): Promise<number> {
    this.#isFrozen = true;
    setState(this.#folder, 'cgroup.freeze', '1');
    await until(() => !this.#isFrozen || ['', 'frozen 1'].includes(frozenIn(this.#folder)));
    if (!this.#isFrozen) throw new Error('the processes were continued meanwhile');
    return countIn(this.#folder);
  }

  thaw(): number {
    if (!this.#isFrozen) return 0;
    this.#isFrozen = false;
    const count = countIn(this.#folder);
    setState(this.#folder, 'cgroup.freeze', '0');
    return count;
  }
}

/**
 * The first version: what is frozen cannot be killed, and would stay if its keeper were killed. So the group stands still only
 * while its processes are stopped one by one.
 */
export function standStillOf(folder: string): StandStill {
  return {
    freeze: async () => {
      setState(folder, 'freezer.state', 'FROZEN');
      await until(() => ['FROZEN', ''].includes(valueIn(folder, 'freezer.state')));
    },
    thaw: () => setState(folder, 'freezer.state', 'THAWED'),
  };
}

/** Empty once the group is gone. */
function frozenIn(folder: string): string {
  const events = valueIn(folder, 'cgroup.events');
  return events.split('\n').find((line) => line.startsWith('frozen')) ?? '';
}

async function until(isSo: () => boolean): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  while (!isSo()) {
    if (performance.now() > deadline) throw new Error('the processes could not all be stopped');
    await sleep(roundMs);
  }
}

function setState(folder: string, file: string, value: string): void {
  try {
    writeFileSync(join(folder, file), value);
  } catch (error) {
    // The program is over, and its group with it.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
