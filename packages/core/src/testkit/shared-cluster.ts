import { expect } from 'vitest';
import { ManualClock } from './manual-clock.ts';
import { SharedMemory } from './shared-memory.ts';
import type { TestGovernance } from './test-governance.ts';
import { testGovernance } from './test-governance.ts';

/** Several governances on one log, whose work the test orders. */
export class Cluster {
  readonly log = new SharedMemory();
  readonly clock = new ManualClock();
  readonly members: TestGovernance[] = [];
  readonly #policy: string;

  constructor(policy: string) {
    this.#policy = policy;
  }

  async start(count: number): Promise<void> {
    for (let nth = 0; nth < count; nth++) {
      const member = await testGovernance({
        clock: this.clock,
        member: this.log.join(),
        name: `member ${nth}`,
        features: {},
      });
      this.members.push(member);
      // Each has the same files. Only their own log entries differ.
      const loading = member.policies(this.#policy);
      await this.settle();
      await loading;
    }
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
