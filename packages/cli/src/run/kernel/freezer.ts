import { setTimeout as sleep } from 'node:timers/promises';
import type { ProcessEntry } from './process-table.ts';
import { isHeld, processEntry, processesBelow } from './process-table.ts';
import { signal } from './signal.ts';

const roundMs = 5;
const deadlineMs = 30_000;

/** Stops and continues all processes of a program. */
export interface Freezes {
  readonly isFrozen: boolean;
  /** Returns how many there are once the kernel says that none can run. Throws if that cannot be had. */
  freeze(): Promise<number>;
  /** Returns how many the kernel has let go on. */
  thaw(): number;
}

/** Stops all at one moment, and lets them go again. They then take the signals that they were sent. */
export interface StandStill {
  freeze(): Promise<void>;
  thaw(): void;
}

/** Stops and continues every process of a pid namespace by signals, whatever they do against it. */
export class SignalFreezer implements Freezes {
  readonly #first: number;
  readonly #standStill: StandStill | undefined;
  /** What had stopped by itself before, such as a job in the background. It stays so. */
  #stoppedBefore: ReadonlySet<string> | undefined;
  #isFrozen = false;
  #freezing: Promise<number> | undefined;

  /** `first` is the first process of the namespace, by its number here. */
  constructor(first: number, standStill?: StandStill) {
    this.#first = first;
    this.#standStill = standStill;
  }

  get isFrozen(): boolean {
    return this.#isFrozen;
  }

  /**
   * Stops all of them, and again those that were forked meanwhile, until the kernel has shown twice in a row the same
   * processes, none of which can run. Returns how many. Throws if that cannot be had.
   *
   * A program that forks and ends all the time is in no list while it is alive. But its first process is stopped before all
   * others, and so takes away nothing that has ended: each such step leaves an entry that was not there before. So what is
   * over counts in the comparison, and the limit of processes ends the hopping.
   */
  freeze(): Promise<number> {
    this.#isFrozen = true;
    this.#freezing ??= this.#stopNoted().finally(() => (this.#freezing = undefined));
    return this.#freezing;
  }

  /** What cannot be seen now may be stopped by the next try, which then notes it. */
  async #stopNoted(): Promise<number> {
    this.#stoppedBefore ??= this.#stoppedNow();
    return this.#stopStandingStill();
  }

  /** Where all stand still while they are sent the signal, nothing is forked meanwhile, and no limit of processes is needed. */
  async #stopStandingStill(): Promise<number> {
    if (this.#standStill === undefined) return this.#stopAll();
    try {
      await this.#standStill.freeze();
      for (const { pid, isOver } of processesBelow(this.#first)) if (!isOver) signal(pid, 'SIGSTOP');
    } finally {
      this.#standStill.thaw();
    }
    return this.#stopAll();
  }

  async #stopAll(): Promise<number> {
    const deadline = performance.now() + deadlineMs;
    let before: string | undefined;
    while (this.#isFrozen && performance.now() < deadline) {
      const all = processesBelow(this.#first);
      // Parents first: they do not notice that their children stop.
      const running = all.filter((entry) => !entry.isOver && !isHeld(entry));
      for (const { pid } of running) signal(pid, 'SIGSTOP');
      this.#stopGroups(all);
      const living = all.filter(({ isOver }) => !isOver);
      const seen = running.length === 0 ? all.map(nameOf).toSorted().join(' ') : undefined;
      if (seen !== undefined && seen === before) return living.length;
      before = seen;
      await sleep(seen === undefined ? roundMs : 0);
    }
    throw new Error(
      this.#isFrozen ? 'the processes could not all be stopped' : 'the processes were continued meanwhile',
    );
  }

  /** The kernel stops a whole group at once, with whatever it forks at that moment. This process is in none of them. */
  #stopGroups(all: readonly ProcessEntry[]): void {
    const own = processEntry(process.pid)?.group;
    const groups = new Set(all.map(({ group }) => group).filter((group) => group > 1 && group !== own));
    for (const group of groups) signal(-group, 'SIGSTOP');
  }

  /** Lets them go on. Children first: their parents then find them running. Returns to how many the kernel has done so. */
  thaw(): number {
    if (!this.#isFrozen) return 0;
    const before = this.#stoppedBefore;
    const held = processesBelow(this.#first).filter((entry) => !entry.isOver && before?.has(nameOf(entry)) !== true);
    this.#isFrozen = false;
    this.#stoppedBefore = undefined;
    return held.toReversed().filter(({ pid }) => signal(pid, 'SIGCONT')).length;
  }

  #stoppedNow(): ReadonlySet<string> {
    const stopped = processesBelow(this.#first).filter((entry) => !entry.isOver && isHeld(entry));
    return new Set(stopped.map(nameOf));
  }
}

function nameOf({ pid, start }: ProcessEntry): string {
  return `${pid}@${start}`;
}
