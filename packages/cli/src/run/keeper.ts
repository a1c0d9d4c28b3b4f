import { setTimeout as sleep } from 'node:timers/promises';
import type { Jail } from './jail/start-jail.ts';
import type { Cgroup } from './cgroup/cgroup.ts';
import { GroupFreezer, standStillOf } from './cgroup/group-freezer.ts';
import type { Freezes } from './kernel/freezer.ts';
import { SignalFreezer } from './kernel/freezer.ts';
import type { ProcessEntry } from './kernel/process-table.ts';
import { childOf, followProcess, isHeld, processesBelow } from './kernel/process-table.ts';
import { signal } from './kernel/signal.ts';

const guardMs = 250;

/** Why the program may not run. It runs while nothing holds it. */
export type Hold = 'control' | 'gateway' | 'terminal';

/** Holds and ends the processes of a jail, by the kernel. */
export class Keeper {
  readonly #jail: Jail;
  readonly #first: number;
  readonly #freezer: Freezes;
  readonly #cgroup: Cgroup | undefined;
  readonly #holds = new Set<Hold>();
  /** What the kernel says of the program itself, once it is known. */
  #program: (() => ProcessEntry | undefined) | undefined;
  /** Signals that came before. */
  readonly #untold = new Set<NodeJS.Signals>();
  #guard: NodeJS.Timeout | undefined;
  #isEnding = false;

  constructor(jail: Jail, cgroup: Cgroup | undefined) {
    this.#jail = jail;
    this.#first = jail.first;
    this.#cgroup = cgroup;
    this.#freezer = freezerOf(jail.first, cgroup);
  }

  get isEnding(): boolean {
    return this.#isEnding;
  }

  /** Freezes every process. Returns how many there are once the kernel says that none can run. */
  async hold(why: Hold): Promise<number> {
    this.#holds.add(why);
    this.#guard ??= setInterval(() => this.again(), guardMs).unref();
    return this.#freezer.freeze().finally(this.#jail.wake);
  }

  /** Freezes once more what somebody outside has continued. */
  again(): void {
    if (this.#freezer.isFrozen)
      this.#freezer
        .freeze()
        .catch(() => {})
        .finally(this.#jail.wake);
  }

  /** Returns how many processes the kernel has let go on. Undefined if something else holds them. */
  release(why: Hold): number | undefined {
    this.#holds.delete(why);
    if (this.#holds.size > 0) return undefined;
    clearInterval(this.#guard);
    this.#guard = undefined;
    return this.#freezer.thaw();
  }

  /**
   * Ends all of it: asks, and after the grace kills the first process, with which the kernel kills the namespace. What is
   * frozen gets no more time to run. The kill does not depend on whether anything else can be had. Returns how many processes
   * there were. Undefined if they could not be counted.
   */
  async end(graceMs: number): Promise<number | undefined> {
    this.#isEnding = true;
    const { ended, kill } = this.#jail;
    const all = this.#living();
    if (all !== undefined && !this.#freezer.isFrozen) {
      for (const { pid } of all) signal(pid, 'SIGTERM');
      await Promise.race([ended, sleep(graceMs, undefined, { ref: false })]);
    }
    try {
      this.#cgroup?.kill();
    } finally {
      kill();
    }
    await ended;
    return all?.length;
  }

  #living(): readonly ProcessEntry[] | undefined {
    try {
      return processesBelow(this.#first).filter(({ isOver }) => !isOver);
    } catch {
      // Without descriptors the list cannot be read.
      return undefined;
    }
  }

  /**
   * Called when nothing but the program is below the first process. Later there may be others that have lost their parent, also with
   * lower numbers.
   */
  knowProgram(): void {
    const program = childOf(this.#first);
    if (program === undefined) return;
    this.#program = followProcess(program);
    for (const name of this.#untold) this.tellProgram(name);
    this.#untold.clear();
  }

  /** Whatever has got its number meanwhile is not told. */
  tellProgram(name: NodeJS.Signals): void {
    if (this.#program === undefined) return void this.#untold.add(name);
    const program = this.#program();
    if (program?.isOver === false) signal(program.pid, name);
  }

  /** Whether the program has stopped, and nobody here has stopped it. */
  get hasProgramStoppedItself(): boolean {
    return !this.#freezer.isFrozen && this.#program?.()?.state === 'T';
  }

  /** Whether all processes but the first, which only waits for them, have stopped by themselves. */
  get hasStopped(): boolean {
    return processesBelow(this.#first).every((entry) => entry.pid === this.#first || isHeld(entry));
  }
}

function freezerOf(first: number, cgroup: Cgroup | undefined): Freezes {
  const { version, folder } = cgroup?.freezing ?? {};
  if (folder === undefined) return new SignalFreezer(first);
  return version === 2 ? new GroupFreezer(folder) : new SignalFreezer(first, standStillOf(folder));
}
