import { expect } from 'vitest';
import { ManualClock } from './manual-clock.ts';
import { SharedMemory } from './shared-memory.ts';
import type { TestGovernance, TestOptions } from './test-governance.ts';
import { testGovernance } from './test-governance.ts';

/** Several governances on one log, whose work the test orders. */
export class Cluster {
  readonly log = new SharedMemory();
  readonly clock = new ManualClock();
  readonly members: TestGovernance[] = [];
  readonly #policy: string;
  readonly #options: Pick<TestOptions, 'ttlMs'>;
  #started = 0;

  constructor(policy: string, options: Pick<TestOptions, 'ttlMs'> = {}) {
    this.#policy = policy;
    this.#options = options;
  }

  async start(count: number): Promise<void> {
    for (let nth = 0; nth < count; nth++) await this.#join(this.members.length);
  }

  /** Ends a member, whatever it was about, and starts another one on the same log in its place. */
  async restart(nth: number): Promise<TestGovernance> {
    return this.#join(nth % this.members.length);
  }

  async #join(place: number): Promise<TestGovernance> {
    const { clock, log } = this;
    const name = `member ${this.#started++}`;
    const member = await testGovernance({ ...this.#options, clock, member: log.join(), name, features: {} });
    this.members[place] = member;
    // Each has the same files. Only their own log entries differ.
    const loading = member.policies(this.#policy);
    await this.settle();
    await loading;
    return member;
  }

  at(nth: number): TestGovernance {
    const member = this.members[nth % this.members.length];
    if (member === undefined) throw new Error('there is no member');
    return member;
  }

  /** Ends all turns, lets the store work, and lets everybody follow, until nothing is left to do. */
  async settle(): Promise<void> {
    for (let round = 0; round < 50; round++) {
      for (const member of this.members) member.turn();
      while (this.log.waiting > 0) {
        this.log.work();
        await ticks();
      }
      await ticks();
    }
    for (const member of this.members) {
      const caughtUp = member.gov.journal.catchUp();
      await ticks();
      while (this.log.waiting > 0) {
        this.log.work();
        await ticks();
      }
      expect(await caughtUp).toBe(true);
    }
  }
}

/** Lets everything happen that waits for nothing but its turn. */
export async function ticks(): Promise<void> {
  for (let count = 0; count < 10; count++) await Promise.resolve();
  await new Promise((resolve) => setImmediate(resolve));
}
