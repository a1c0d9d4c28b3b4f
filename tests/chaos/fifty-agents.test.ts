import { setTimeout as sleep } from 'node:timers/promises';
import type { RouteOutput, Routes } from '@reeve/contract/http';
import { connect } from '@reeve/sdk';
import { expect, test } from 'vitest';
import type { LoggedEntry } from '../harness/audit-log.ts';
import { makeKey } from '../harness/credentials.ts';
import { eventually } from '../harness/eventually.ts';
import { bootstrapKey } from '../harness/gateway.ts';
import { verifyChain } from '../harness/verify-chain.ts';
import { EventFollower } from './storm/event-follower.ts';
import type { Manner } from './storm/storm-agent.ts';
import { StormAgent } from './storm/storm-agent.ts';
import { StormOperator } from './storm/storm-operator.ts';
import { transitionsOf } from './storm/transitions.ts';
import type { Receipt } from './storm/truth.ts';
import { brokenLifecycle, controlsByOp, untruthOf } from './storm/truth.ts';
import { World } from './storm/world.ts';

type OpList = RouteOutput<Routes['listOps']>;
type Report = RouteOutput<Routes['getControl']>;
type Bulk = Extract<Report, { kind: 'bulk' }>;

const stormMs = Number(process.env['REEVE_CHAOS_SECS'] ?? 15) * 1000;
const manners: readonly Manner[] = ['checkpoints', 'checkpoints', 'checkpoints', 'signal', 'nothing', 'unpausable'];

test('fifty agents under two operators, with two kills: receipts tell the truth, followers know all, and nothing is stuck', {
  timeout: stormMs + 240_000,
}, async () => {
  await using world = await World.start();
  await using cleanup = new AsyncDisposableStack();
  const followers = await startFollowers(world);
  const stopFollowers = () => Promise.all(followers.map(({ stop }) => stop())).then(() => undefined);
  cleanup.defer(stopFollowers);
  const { agents, loseOne, close } = await startAgents(world);
  cleanup.defer(close);
  const [ada, bert] = await startOperators(world);

  let isOver = false;
  const storm = Promise.all([ada, bert].map((operator) => operator.storm(() => isOver)));
  for (const run of [0, 1]) {
    await sleep(stormMs / 3);
    // On a busy machine a follower may take longer than that to come back.
    await eventually(() => expect(followers.map(({ follower }) => follower.hasHeardIn(run))).not.toContain(false));
    await world.killAndRestart();
  }
  await sleep(stormMs / 6);
  loseOne();
  await sleep(stormMs / 6);
  isOver = true;
  await storm;
  await eventually(async () => {
    const running = (await inFlight(world)).filter(({ state }) => state === 'running');
    expect(running.map(({ agent }) => agent.agent_id)).toContain('agent-49');
  });
  loseOne();

  // Releases the agents: paused operations run on and end.
  for (const agent of agents) agent.letGo();
  await ada.control('resume', { all: true });
  const ended = Promise.all(agents.map((agent) => agent.ended())).then(() => 'all have ended');
  const answer = await Promise.race([ended, sleep(90_000)]);
  expect(answer ?? (await inFlight(world)), 'agents wait for something that never comes').toBe('all have ended');
  const lost = agents.filter((agent) => agent.lost).map(({ name }) => name);
  await eventually(async () => {
    const stuck = (await inFlight(world)).filter(({ agent }) => !lost.includes(agent.agent_id));
    expect(stuck).toEqual([]);
  });

  // Nobody knows what became of the lost agents' operations. They show as stale until somebody ends them.
  await eventually(async () => {
    const running = (await inFlight(world)).filter(({ state }) => state === 'running');
    expect(running.map(({ agent }) => agent.agent_id)).toContain('agent-49');
    expect(running.map(({ stale }) => stale)).toEqual(running.map(() => true));
  }, 600);
  const ends = await Promise.all(lost.map((name) => ada.control('terminate', { agent_id: name })));
  expect(await inFlight(world)).toEqual([]);
  for (const { control_id } of ends) {
    await eventually(async () => {
      const { counts, total } = await readBulk(world, control_id ?? '');
      expect(counts.unconfirmed).toBe(total);
    }, 600);
  }

  const entries = world.gateway.audit();
  for (const follower of followers) await expectHistory(world, follower, entries);
  expect(brokenLifecycle(entries)).toBeUndefined();

  const receipts = await readReceipts(world, entries, [ada, bert]);
  const byName = new Map(agents.map((agent) => [agent.name, agent]));
  for (const [op, ids] of controlsByOp(entries)) {
    const ofOp = ids.flatMap((id) => receipts.get(id) ?? []);
    for (const [nth, receipt] of ofOp.entries()) {
      const agent = byName.get(receipt.agent.agent_id);
      const untruth = agent === undefined ? 'nobody' : untruthOf(receipt, ofOp.slice(nth + 1), agent);
      expect(untruth, `${op}: ${JSON.stringify(ofOp.slice(nth))}`).toBeUndefined();
    }
  }
  const statuses = [...receipts.values()].map(({ status }) => status);
  expect(statuses.filter((status) => status === 'effective').length).toBeGreaterThan(stormMs / 200);
  expect(ada.refused + bert.refused).toBeGreaterThan(0);
  expect(agents.filter(({ steps }) => steps.size === 0)).toEqual([]);

  // A follower that still hops would meet a gateway that is being stopped.
  await stopFollowers();
  await world.gateway.kill('SIGTERM');
  expect(verifyChain(world.gateway.folder)).toMatchObject({ accepted: true });
});

interface RunningFollower {
  readonly follower: EventFollower;
  /** The only org that it may see, if it is bound to one. */
  readonly org?: string;
  readonly stop: () => Promise<void>;
}

async function startFollowers(world: World): Promise<RunningFollower[]> {
  const { key: tenant } = await makeKey(world.gateway, { org_id: 'acme' });
  const followers = [
    { follower: new EventFollower(world, { key: bootstrapKey }) },
    { follower: new EventFollower(world, { key: bootstrapKey, hops: true, types: 'ops_change' }) },
    {
      follower: new EventFollower(world, { key: bootstrapKey, hops: true, byTicket: true, types: 'ops_change,agent' }),
    },
    { follower: new EventFollower(world, { key: tenant, hops: true }), org: 'acme' },
  ];
  return Promise.all(
    followers.map(async (each) => {
      const { ended } = await each.follower.start();
      const stop = () => {
        each.follower.stop();
        return ended;
      };
      return { ...each, stop };
    }),
  );
}

/** Fifty agents of two orgs and four teams. The last two are lost one after the other, with their work. */
async function startAgents(world: World) {
  const clients = Array.from({ length: 6 }, () => connect({ address: world.gateway.grpc, apiKey: bootstrapKey }));
  const agents = await Promise.all(
    Array.from({ length: 50 }, async (_, nth) => {
      const manner = nth < 48 ? manners[nth % manners.length] : 'endless';
      const agent = new StormAgent(`agent-${nth}`, manner ?? 'checkpoints');
      const client = clients[nth < 48 ? nth % 4 : nth - 44];
      const id = { orgId: nth % 2 === 0 ? 'acme' : 'umbrella', teamId: nth % 4 < 2 ? 'red' : 'blue' };
      if (client !== undefined) await agent.start(client, id);
      return agent;
    }),
  );
  let next = 48;
  const loseOne = () => {
    agents[next]?.lose();
    clients[next - 44]?.close();
    next++;
  };
  const close = () => {
    for (const agent of agents) agent.letGo();
    for (const client of clients) client.close();
  };
  return { agents, loseOne, close };
}

async function startOperators(world: World): Promise<[StormOperator, StormOperator]> {
  const scopes = ['read' as const, 'write' as const, 'admin' as const];
  const ada = await makeKey(world.gateway, { label: 'Ada', scopes });
  const bert = await makeKey(world.gateway, { label: 'Bert', scopes });
  const sights = { op: undefined };
  return [new StormOperator(world, ada.key, sights), new StormOperator(world, bert.key, sights)];
}

async function inFlight(world: World): Promise<OpList['items']> {
  const lists = ['pending', 'running', 'paused'].map(async (state) => {
    const { body } = await world.gateway.api.get<OpList>(`/api/v1/ops?state=${state}&per_page=1000`, bootstrapKey);
    return body.items;
  });
  return (await Promise.all(lists)).flat();
}

/** The follower's history matches the log: up to each kill, as far as events got out, and complete for the last run. */
async function expectHistory(world: World, { follower, org }: RunningFollower, entries: readonly LoggedEntry[]) {
  const ends = [0, ...world.ends, Number.POSITIVE_INFINITY];
  const logged = ends
    .slice(1)
    .map((end, run) =>
      entries
        .filter(
          ({ seq, lineage }) => seq > (ends[run] ?? 0) && seq <= end && (org === undefined || lineage.org_id === org),
        )
        .flatMap(transitionsOf),
    );
  const newest = logged.length - 1;
  await eventually(() => expect(follower.history(newest)).toEqual(logged[newest]));
  for (const [run, transitions] of logged.entries()) {
    const history = follower.history(run);
    expect(history.length).toBeGreaterThan(0);
    expect(history, `in run ${run}`).toEqual(transitions.slice(0, history.length));
  }
  expect(await follower.view(newest)).toEqual(await follower.list());
}

/** The receipts of all controls in the log, by id, as the gateway answers them. */
async function readReceipts(world: World, entries: readonly LoggedEntry[], operators: readonly StormOperator[]) {
  const requests = entries.filter(({ event_type }) => event_type === 'OpControlRequested');
  const receipts = new Map<string, Receipt>();
  for (const { op_id, payload } of requests) {
    const id = String(payload['control_id']);
    if (op_id === null) {
      const bulk = await readBulk(world, id);
      for (const receipt of bulk.receipts) receipts.set(receipt.id, receipt);
      expect(bulk.total).toBe(bulk.receipts.length);
      // A control without an answer was interrupted by a kill, and requested again.
      const told = operators.map(({ bulks }) => bulks.get(id)).find((result) => result !== undefined);
      expect({ done: bulk.done, changed: bulk.total }).toEqual(
        told === undefined ? { done: false, changed: expect.any(Number) } : { done: true, changed: told.changed },
      );
    } else {
      const { body } = await world.gateway.api.get<Receipt>(`/api/v1/control/${id}`, bootstrapKey);
      receipts.set(id, body);
    }
  }
  const logged = [...controlsByOp(entries).values()].flat();
  expect(new Set(logged)).toEqual(new Set(receipts.keys()));
  for (const operator of operators) expect([...operator.receipts].filter((id) => !receipts.has(id))).toEqual([]);
  return receipts;
}

async function readBulk(world: World, id: string): Promise<Bulk> {
  const { body } = await world.gateway.api.get<Bulk>(`/api/v1/control/${id}?per_page=1000`, bootstrapKey);
  expect(body.next_cursor).toBeNull();
  return body;
}
