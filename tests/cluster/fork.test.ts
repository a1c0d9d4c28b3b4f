import { expect, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import { failOver, keepStandby, sleepThroughLoss, startCluster } from './fork.ts';

test.each([
  { lost: 5, beyond: 5 },
  { lost: 12, beyond: 0 },
])(
  'a gateway that slept through a failover which lost commits goes on from none of them (%j)',
  async (loss) => {
    expect(await sleepThroughLoss(loss)).toEqual([]);
  },
  180_000,
);

test('gateways that were awake notice that the database is behind what they have seen', async () => {
  await using cluster = await startCluster();
  const { one, two } = cluster;
  const agent = await one.register({ agentId: 'agent' });
  await keepStandby(cluster);
  for (const gateway of [one, two]) {
    await eventually(async () => expect(await gateway.check(agent)).toMatchObject({ decision: 1 }), 600);
  }
  await failOver(cluster);
  for (const gateway of [one, two]) {
    expect(await gateway.exited()).toBe(1);
    expect(gateway.output().stderr).toContain('it has lost commits; start it again');
  }
}, 180_000);
