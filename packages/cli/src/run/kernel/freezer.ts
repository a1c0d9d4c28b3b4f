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

/** What lasts from a freeze to the next thaw. */
interface Frost {
  /** What had stopped by itself before, such as a job in the background. It stays so. Undefined while nothing is stopped yet. */
  stoppedBefore: ReadonlySet<string> | undefined;
  /** The try that is under way. */
  stopping: Promise<number> | undefined;
}

/** Stops and continues every process of a pid namespace by signals, whatever they do against it. */
export class SignalFreezer implements Freezes {
  readonly #first: number;
  readonly #standStill: StandStill | undefined;
  #frost: Frost | undefined;
  /** The try that the last thaw has interrupted. It may not have noticed yet. */
  #interrupted: Promise<number> | undefined;

  /** `first` is the first process of the namespace, by its number here. */
  constructor(first: number, standStill?: StandStill) {
    this.#first = first;
    this.#standStill = standStill;
  }

  get isFrozen(): boolean {
    return this.#frost !== undefined;
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
    const frost = (this.#frost ??= { stoppedBefore: undefined, stopping: undefined });
    frost.stopping ??= this.#stopNoted(frost).finally(() => (frost.stopping = undefined));
    return frost.stopping;
  }

  /**
   * What cannot be seen now may be stopped by the next try, which then notes it. What somebody outside has continued meanwhile, as a
   * shell does with its job, no longer counts as stopped by itself.
   */
  async #stopNoted(frost: Frost): Promise<number> {
    // Its end would let go what stands still for this one.
    if (this.#interrupted !== undefined) await this.#interrupted.catch(() => {});
    const now = this.#processesIn(frost).filter((entry) => !entry.isOver && isHeld(entry));
    const before = frost.stoppedBefore;
    frost.stoppedBefore = new Set(now.map(nameOf).filter((name) => before?.has(name) !== false));
    return this.#stopStandingStill(frost);
  }

  /** Where all stand still while they are sent the signal, nothing is forked meanwhile, and no limit of processes is needed. */
  async #stopStandingStill(frost: Frost): Promise<number> {
    if (this.#standStill === undefined) return this.#stopAll(frost);
    try {
      await this.#standStill.freeze();
      for (const { pid, isOver } of this.#processesIn(frost)) if (!isOver) signal(pid, 'SIGSTOP');
    } finally {
      this.#standStill.thaw();
    }
    return this.#stopAll(frost);
  }

  async #stopAll(frost: Frost): Promise<number> {
    const deadline = performance.now() + deadlineMs;
    let before: string | undefined;
    while (performance.now() < deadline) {
      const all = this.#processesIn(frost);
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
    throw new Error('the processes could not all be stopped');
  }

  /** Whoever stops processes finds them here, and so stops none after the thaw. */
  #processesIn(frost: Frost): readonly ProcessEntry[] {
    if (this.#frost !== frost) throw new Error('the processes were continued meanwhile');
    return processesBelow(this.#first);
  }

  /** The kernel stops a whole group at once, with whatever it forks at that moment. This process is in none of them. */
  #stopGroups(all: readonly ProcessEntry[]): void {
    const own = processEntry(process.pid)?.group;
    const groups = new Set(all.map(({ group }) => group).filter((group) => group > 1 && group !== own));
    for (const group of groups) signal(-group, 'SIGSTOP');
  }

  /** Lets them go on. Children first: their parents then find them running. Returns to how many the kernel has done so. */
  thaw(): number {
    const frost = this.#frost;
    if (frost === undefined) return 0;
    const before = frost.stoppedBefore;
    const all = before === undefined ? [] : this.#processesIn(frost);
    const stopped = all.filter((entry) => !entry.isOver && before?.has(nameOf(entry)) !== true);
    this.#frost = undefined;
    this.#interrupted = frost.stopping;
    return stopped.toReversed().filter(({ pid }) => signal(pid, 'SIGCONT')).length;
  }
}

function nameOf({ pid, start }: ProcessEntry): string {
  return `${pid}@${start}`;
}
