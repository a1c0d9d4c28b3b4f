import { describe, expect, test } from 'vitest';
import { system } from '../audit/entry.ts';
import { checkAction } from '../decision/check-action.ts';
import { registerOp } from '../testkit/commands.ts';
import { agentId, checkOf, operator } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import { moveOp } from './move-op.ts';
import { recordOf } from './op.ts';
import { OpsCheckpoint, sweepOps } from './checkpoint.ts';

const tickMs = 10_000;
const ttlMs = 60_000;
const bot = agentId('acme/search/bot');

class World {
  readonly test: TestGovernance;
  readonly agent: TestAgent;
  readonly checkpoint: OpsCheckpoint;

  constructor(test: TestGovernance, agent: TestAgent) {
    this.test = test;
    this.agent = agent;
    this.checkpoint = new OpsCheckpoint(test.gov, tickMs, ttlMs);
  }

  static async create(): Promise<World> {
    const test = await testGovernance({ ttlMs });
    await test.policies('default: allow');
    return new World(test, await test.register(bot));
  }

  async start(...traceIds: string[]): Promise<void> {
    for (const traceId of traceIds) await this.test.check(this.agent, { traceId, spanId: 's' });
  }

  /** Housekeeping, as the gateway does it at every tick. */
  tick(): void {
    this.test.clock.advance(tickMs);
    sweepOps(this.test.gov);
    while (this.checkpoint.step(100)) this.test.turn();
    this.test.turn();
  }

  async rows(): Promise<string[]> {
    return [...(await this.test.store.load()).ops].map((op) => `${op.opId} ${op.state}`);
  }
}

describe('an operation', () => {
  test('that ends within moments never gets a row', async () => {
    const world = await World.create();
    await world.start('t');
    world.test.clock.advance(500);
    await world.test.complete(world.agent, 't:s');
    for (let tick = 0; tick < 10; tick++) {
      world.tick();
      expect(await world.rows()).toEqual([]);
    }
    expect(world.test.opsOf(bot).size).toBe(0);
  });

  test('that lives for a tick gets a row, which follows its moves and goes with the sweep', async () => {
    const world = await World.create();
    await world.start('t');
    world.tick();
    expect(await world.rows()).toEqual(['t:s running']);
    moveOp(world.test.gov, world.test.gov.ops.get(world.test.known(bot), 't:s'), 'pause', {
      actor: system,
      reason: '',
    });
    world.test.turn();
    world.tick();
    expect(await world.rows()).toEqual(['t:s paused']);
    moveOp(world.test.gov, world.test.gov.ops.get(world.test.known(bot), 't:s'), 'terminate', {
      actor: system,
      reason: '',
    });
    world.test.turn();
    world.tick();
    expect(await world.rows()).toEqual(['t:s terminated']);
    for (let tick = 0; tick < 6; tick++) world.tick();
    expect(await world.rows()).toEqual([]);
  });

  test('that does not move is written once', async () => {
    const world = await World.create();
    await world.start('t');
    world.tick();
    const commits = world.test.commits.length;
    for (let tick = 0; tick < 5; tick++) world.tick();
    const changes = world.test.commits.slice(commits).flatMap((batch) => batch.changes);
    expect(changes.filter((change) => change.kind === 'op_saved')).toEqual([]);
  });

  test('whose row is up to date is not written again after a restart', async () => {
    const world = await World.create();
    await world.start('t1', 't2');
    world.tick();
    await world.start('t3');
    const { gov } = await world.test.crash();
    expect([...gov.ops.unsaved()].map(([op]) => op.opId)).toEqual(['t3:s']);
  });

  test('whose row could not be written is written the next time', async () => {
    const world = await World.create();
    await world.start('t');
    world.test.failure = new Error('the disk is full');
    world.tick();
    expect(await world.rows()).toEqual([]);
    world.test.failure = undefined;
    world.tick();
    expect(await world.rows()).toEqual(['t:s running']);
  });
});

test('rows are written a few at a time, until there are no more', async () => {
  const world = await World.create();
  await world.start('t1', 't2', 't3', 't4', 't5');
  world.test.clock.advance(tickMs);
  const written: number[] = [];
  for (let more = true; more; ) {
    more = world.checkpoint.step(2);
    const changes = world.test.commits.length;
    world.test.turn();
    written.push(world.test.commits.slice(changes).flatMap((batch) => batch.changes).length);
  }
  expect(written).toEqual([2, 2, 1]);
  expect(await world.rows()).toHaveLength(5);
});

test('an operation that has just begun is left for later, and does not hold up those before it', async () => {
  const world = await World.create();
  await world.start('old');
  world.test.clock.advance(tickMs - 1);
  await world.start('new');
  world.test.clock.advance(1);
  expect(world.checkpoint.step(100)).toBe(false);
  world.test.turn();
  expect(await world.rows()).toEqual(['old:s running']);
});

test('the mark stays behind what the log alone remembers', async () => {
  const world = await World.create();
  world.tick();
  await world.start('t');
  await world.test.complete(world.agent, 't:s');
  const decided = (await world.test.audit()).find((entry) => entry.op_id === 't:s');
  for (;;) {
    world.tick();
    const { opsReplayFrom } = await world.test.store.load();
    const swept = world.test.gov.ops.find(world.test.known(bot), 't:s') === undefined;
    if (!swept) expect(opsReplayFrom).toBeLessThan(decided?.seq ?? 0);
    if ((opsReplayFrom ?? 0) >= (decided?.seq ?? 0)) break;
  }
});

test('what may be cut from the log is no more than the store knows it can do without', async () => {
  const world = await World.create();
  await world.start('t');
  for (let tick = 0; tick < 30; tick++) {
    world.test.failure = tick % 3 === 0 ? undefined : new Error('the disk is full');
    world.tick();
    expect(world.checkpoint.replayFrom).toBe((await world.test.store.load()).opsReplayFrom);
  }
  expect(world.checkpoint.replayFrom).toBeGreaterThan(0);
});

test('the sweep says how many it has removed', async () => {
  const world = await World.create();
  await world.start('t1', 't2', 't3');
  await world.test.complete(world.agent, 't1:s');
  await world.test.complete(world.agent, 't2:s');
  world.test.clock.advance(ttlMs);
  expect(sweepOps(world.test.gov)).toBe(2);
  expect(sweepOps(world.test.gov)).toBe(0);
});

test('a row that is still to be removed takes no operation along of an agent that has left and returned', async () => {
  const { test, agent, checkpoint } = await World.create();
  const traceId = 't';
  await test.check(agent, { traceId, spanId: 's' });
  test.clock.advance(tickMs);
  checkpoint.step(100);
  test.turn();
  await test.complete(agent, 't:s');
  test.clock.advance(ttlMs + 1);
  test.failure = new Error('the disk is full');
  sweepOps(test.gov);
  test.turn();
  test.failure = undefined;
  await test.deregister(agent);
  const again = await test.register(bot);
  await test.check(again, { traceId, spanId: 's', estimatedCostMicros: 7 });
  sweepOps(test.gov);
  test.turn();
  expect([...test.opsOf(bot).values()].map(({ opId, state }) => `${opId} ${state}`)).toEqual(['t:s running']);
  const { gov } = await test.crash();
  expect([...gov.ops.reservations()]).toMatchObject([{ opId: 't:s', reservedMicros: 7 }]);
});

test('an operation whose row is written in the turn of its first check was registered before, also after a restart', async () => {
  const { test, agent, checkpoint } = await World.create();
  await test.settle(registerOp(test.gov, operator, { agent: bot, traceId: 't', spanId: 's', summary: '' }));
  test.clock.advance(2 * tickMs);
  const checking = checkAction(test.gov, checkOf({ agentId: bot, token: agent.token, traceId: 't', spanId: 's' }));
  checkpoint.step(100);
  await test.settle(checking);
  const known = test.opsOf(bot).get('t:s');
  const after = (await test.crash()).opsOf(bot).get('t:s');
  expect(after && recordOf(after)).toEqual(known && recordOf(known));
});

test('the mark waits for rows that are still to be removed: what came of their operations, the log alone says', async () => {
  const world = await World.create();
  const g = world.test;
  await world.start('t');
  world.tick();
  await g.complete(world.agent, 't:s');
  g.clock.advance(ttlMs);
  g.failure = new Error('the disk is full');
  sweepOps(g.gov);
  g.turn();
  g.failure = undefined;
  for (let tick = 0; tick < 20; tick++) {
    g.clock.advance(tickMs);
    while (world.checkpoint.step(100)) g.turn();
    g.turn();
  }
  expect(await world.rows()).toEqual(['t:s running']);
  const next = await g.crash();
  expect([...next.opsOf(bot).values()].map(({ state, reservedMicros }) => [state, reservedMicros])).toEqual([
    ['completing', 0],
  ]);
});
