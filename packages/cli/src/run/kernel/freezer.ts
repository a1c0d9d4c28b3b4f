import { setTimeout as sleep } from 'node:timers/promises';
import type { ProcessEntry } from './process-table.ts';
import { isHeld, newestProcess, newProcessesBelow, processEntry, processesBelow } from './process-table.ts';
import { signal } from './signal.ts';

const deadlineMs = 30_000;
/** A program in flight is chased for so long at a time, and given up earlier once nothing new has come for a while. */
const chaseMs = 50;
const calmMs = 5;
/** Of more than so many at once, only the newest can still be on the move. The next list has the others. */
const newestAtOnce = 256;
/** What the kernel cannot stop yet is looked at less and less often, and at least so often. */
const longestRestMs = 45;

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
   * A program that forks and ends all the time is in no list while it is alive, so it is chased by the numbers that the kernel
   * gives. The chase proves nothing; the lists do: the program's first process is stopped before all others, and so takes
   * away nothing that has ended. Each such step leaves an entry that was not there before, and what is over counts in the
   * comparison.
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
    let stuck = '';
    let restMs = 0;
    while (performance.now() < deadline) {
      const newest = newestProcess();
      const all = this.#processesIn(frost);
      // Parents first: they do not notice that their children stop.
      const running = all.filter((entry) => !entry.isOver && !isHeld(entry));
      for (const { pid } of running) signal(pid, 'SIGSTOP');
      this.#stopGroups(all);
      const living = all.filter(({ isOver }) => !isOver);
      const seen = running.length === 0 ? all.map(nameOf).toSorted().join(' ') : undefined;
      if (seen !== undefined && seen === before) return living.length;
      before = seen;
      const left = running.map(nameOf).join(' ');
      const isCalm = this.#chase(newest) && left !== '' && left === stuck;
      restMs = isCalm ? Math.min(restMs * 2 + calmMs, longestRestMs) : 0;
      stuck = left;
      await sleep(restMs);
    }
    throw new Error('the processes could not all be stopped');
  }

  /**
   * Stops what is younger than the process `seen` as soon as it has a number. To list all takes the longer the more entries
   * the program has left, and so longer than one of its steps; to look at the newest number does not. Returns whether nothing
   * was on the move.
   */
  #chase(seen: number): boolean {
    const start = performance.now();
    let isCalm = true;
    for (let now = start, calmAt = start + calmMs; now < Math.min(start + chaseMs, calmAt); now = performance.now()) {
      const newest = newestProcess();
      if (newest === seen) continue;
      // The kernel starts again at low numbers once it has used them all.
      const after = Math.max(newest < seen ? 0 : seen, newest - newestAtOnce);
      const found = newProcessesBelow(this.#first, after, newest);
      for (const entry of found) if (!entry.isOver && !isHeld(entry)) signal(entry.pid, 'SIGSTOP');
      if (found.length > 0) {
        calmAt = performance.now() + calmMs;
        isCalm = false;
      }
      seen = newest;
    }
    return isCalm;
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
