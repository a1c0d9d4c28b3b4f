import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Freezes, StandStill } from '../kernel/freezer.ts';
import { KeptFile } from '../kernel/kept-file.ts';
import { wordsIn } from './hierarchies.ts';

const roundMs = 2;
const deadlineMs = 30_000;

/** Freezes a control group of the second version. What is frozen there can be killed, and takes no notice of signals. */
export class GroupFreezer implements Freezes {
  readonly #state: KeptFile;
  readonly #events: KeptFile;
  readonly #processes: KeptFile;
  #isFrozen = false;

  constructor(folder: string) {
    this.#state = new KeptFile(join(folder, 'cgroup.freeze'), 'w');
    this.#events = new KeptFile(join(folder, 'cgroup.events'), 'r');
    this.#processes = new KeptFile(join(folder, 'cgroup.procs'), 'r');
  }

  get isFrozen(): boolean {
    return this.#isFrozen;
  }

  async freeze(): Promise<number> {
    this.#isFrozen = true;
    this.#state.write('1');
    await until(() => !this.#isFrozen || this.#isStill());
    if (!this.#isFrozen) throw new Error('the processes were continued meanwhile');
    return this.#count();
  }

  thaw(): number {
    if (!this.#isFrozen) return 0;
    this.#isFrozen = false;
    const count = this.#count();
    this.#state.write('0');
    return count;
  }

  /** A group that is gone has nothing that could run. */
  #isStill(): boolean {
    const events = this.#events.read();
    return events === undefined || events.split('\n').includes('frozen 1');
  }

  #count(): number {
    return wordsIn(this.#processes.read()).length;
  }
}

/**
 * The first version: what is frozen cannot be killed, and would stay if its keeper were killed. So the group stands still only
 * while its processes are stopped one by one.
 */
export function standStillOf(folder: string): StandStill {
  const state = new KeptFile(join(folder, 'freezer.state'), 'r+');
  return {
    freeze: async () => {
      state.write('FROZEN');
      await until(() => ['FROZEN', undefined].includes(state.read()?.trim()));
    },
    thaw: () => state.write('THAWED'),
  };
}

async function until(isSo: () => boolean): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  while (!isSo()) {
    if (performance.now() > deadline) throw new Error('the processes could not all be stopped');
    await sleep(roundMs);
  }
}
