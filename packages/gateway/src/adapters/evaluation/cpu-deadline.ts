import type { Worker } from 'node:worker_threads';

/** How many times its time a thread may take by the clock, on a machine that has no core for it. */
const clockTimes = 3;
/** A timer takes no more. */
const mostMs = 2 ** 31 - 1;

/**
 * Limits what a thread computes, not how long it waits for a core: these threads give way to decisions, so on a busy
 * machine the clock would end work that is small.
 */
export class CpuDeadline {
  readonly #worker: Worker;
  readonly #ms: number;
  readonly #onPassed: () => void;
  readonly #last: NodeJS.Timeout;
  #next: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(worker: Worker, ms: number, onPassed: () => void) {
    this.#worker = worker;
    this.#ms = ms;
    this.#onPassed = onPassed;
    this.#last = setTimeout(() => this.#pass(), Math.min(clockTimes * ms, mostMs));
    void this.#watch();
  }

  clear(): void {
    this.#isOver = true;
    clearTimeout(this.#next);
    clearTimeout(this.#last);
  }

  async #watch(): Promise<void> {
    try {
      const before = await this.#worker.cpuUsage();
      const look = async () => {
        const { user, system } = await this.#worker.cpuUsage(before);
        this.#lookAfter(this.#ms - (user + system) / 1000, look);
      };
      this.#lookAfter(this.#ms, look);
    } catch {
      // The thread has ended, and says so itself. Or this is Node before 24.6, where the clock alone limits.
    }
  }

  #lookAfter(leftMs: number, look: () => Promise<void>): void {
    if (this.#isOver) return;
    if (leftMs <= 0) this.#pass();
    else this.#next = setTimeout(() => void look().catch(() => {}), Math.min(Math.max(1, leftMs), mostMs));
  }

  #pass(): void {
    if (this.#isOver) return;
    this.clear();
    this.#onPassed();
  }
}
