import { ManualClock } from './manual-clock.ts';
import { agentId } from './requests.ts';
import { SharedMemory } from './shared-memory.ts';
import type { TestAgent, TestGovernance, TestOptions } from './test-governance.ts';
import { testGovernance } from './test-governance.ts';

/** Lets promises settle, and those that they lead to. */
export async function ticks(): Promise<void> {
  for (let count = 0; count < 10; count++) await Promise.resolve();
  await new Promise((resolve) => setImmediate(resolve));
}

/** Two gateways on one log, whose turns end when the test says so. */
export async function twoGateways(
  policy: string,
  options: Pick<TestOptions, 'agentBounds' | 'features' | 'runTtlMs' | 'subjects' | 'workloads'> = {},
  log = new SharedMemory(),
) {
  const clock = new ManualClock();
  const members: TestGovernance[] = [];
  const settle = async (acting: readonly TestGovernance[] = members) => {
    for (let round = 0; round < 20; round++) {
      for (const member of acting) member.turn();
      while (log.waiting > 0) {
        log.work();
        await ticks();
      }
      await ticks();
    }
  };
  /** Ends the turns of these gateways, or of all, until this is done. */
  const settled = async <Result>(work: Promise<Result>, acting?: readonly TestGovernance[]): Promise<Result> => {
    await settle(acting);
    return work;
  };
  const join = async (name: string) => {
    const member = await testGovernance({ features: {}, ...options, clock, member: log.join(), name });
    members.push(member);
    await settled(member.policies(policy));
    return member;
  };
  const [one, two] = [await join('one'), await join('two')];
  const register = async (name: string): Promise<TestAgent> => settled(one.register(agentId(name)));
  const follow = async () => {
    for (const { gov } of members) await settled(gov.journal.catchUp());
  };
  return { one, two, log, clock, settle, settled, register, follow };
}
