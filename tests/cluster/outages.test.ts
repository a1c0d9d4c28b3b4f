import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ControlStream } from '../harness/control-stream.ts';
import { eventually } from '../harness/eventually.ts';
import { allowAll, bootstrapKey } from '../harness/gateway.ts';
import type { ClusterNode } from './storm/node.ts';
import { Cluster } from './storm/cluster.ts';

const policies = { 'all.yaml': allowAll };

async function startTwo(): Promise<{ cluster: Cluster; one: ClusterNode; two: ClusterNode }> {
  const cluster = await Cluster.start({ size: 2, policies });
  const [one, two] = cluster.nodes;
  if (one === undefined || two === undefined) throw new Error('there are not two gateways');
  return { cluster, one, two };
}

test.each(['cut', 'silence'] as const)(
  'NATS is lost later (%s): readiness says so, decisions go on',
  async (how) => {
    const { cluster, one, two } = await startTwo();
    await using _ = cluster;
    const agent = await two.gateway.register({ agentId: 'a' });
    one.toNats[how]();
    await eventually(async () => {
      expect(await one.gateway.ready()).toMatchObject({
        status: 503,
        body: { parts: { nats: { status: 'failing' } } },
      });
    }, 600);
    expect((await two.gateway.ready()).status).toBe(200);
    expect(await one.gateway.check(agent, { traceId: 't', spanId: '1' })).toMatchObject({ decision: 1 });
    // The other gateway knows it at once, by the database.
    expect(await two.gateway.complete(agent, 't:1')).toMatchObject({ state: 'completing' });
    expect((await one.gateway.api.get('/api/v1/ops/t:1', bootstrapKey)).body).toMatchObject({ state: 'completing' });
    one.toNats.mend();
    await eventually(async () => expect((await one.gateway.ready()).status).toBe(200), 600);
  },
  120_000,
);

test('one gateway is cut off from PostgreSQL: it decides and refuses nothing, and knows everything afterwards', async () => {
  const { cluster, one, two } = await startTwo();
  await using _ = cluster;
  const agent = await one.gateway.register({ agentId: 'a' });
  one.toPostgres.cut();
  await two.gateway.check(agent, { traceId: 't', spanId: '1' });
  await expect(one.gateway.check(agent, { traceId: 't', spanId: '2' })).rejects.toThrow('UNAVAILABLE');
  // It may have heard of the operation by NATS. But it cannot know what has become of it.
  await expect(one.gateway.complete(agent, 't:1')).rejects.toThrow('UNAVAILABLE');
  await expect(one.gateway.complete(agent, 't:unknown')).rejects.toThrow('UNAVAILABLE');
  one.toPostgres.mend();
  await eventually(async () => expect((await one.gateway.ready()).status).toBe(200), 600);
  expect(await one.gateway.complete(agent, 't:1')).toMatchObject({ state: 'completing' });
}, 120_000);

test('PostgreSQL crashes: nobody ends, and everybody serves again', async () => {
  const { cluster, one, two } = await startTwo();
  await using _ = cluster;
  const agent = await one.gateway.register({ agentId: 'a' });
  await cluster.postgres.halt({ isCrash: true });
  // Long enough for the periodic work of whoever leads, which runs every second here.
  await sleep(3500);
  await cluster.postgres.resume();
  for (const { gateway } of [one, two]) {
    await eventually(async () => expect((await gateway.ready()).status).toBe(200), 600);
    await eventually(async () => expect(await gateway.check(agent)).toMatchObject({ decision: 1 }));
  }
  expect([...one.ends, ...two.ends]).toEqual([]);
}, 120_000);

test('without NATS, an agent that is registered at one is heard at the other right away', async () => {
  const { cluster, one, two } = await startTwo();
  await using _ = cluster;
  two.toNats.cut();
  await eventually(async () => expect((await two.gateway.ready()).status).toBe(503));
  for (let round = 0; round < 10; round++) {
    const agent = await one.gateway.register({ agentId: `agent-${round}` });
    await two.gateway.heartbeat(agent);
    const other = await one.gateway.register({ agentId: `other-${round}` });
    const stream = new ControlStream(two.gateway.client, other);
    expect(await Promise.race([stream.accepted.then(() => 'accepted'), stream.ended])).toBe('accepted');
    stream.cancel();
  }
}, 120_000);
