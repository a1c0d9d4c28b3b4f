import { beforeEach, describe, expect, test } from 'vitest';
import { recordOf } from '../ops/op.ts';
import { heartbeat } from '../tenancy/identify.ts';
import { control, finish, listen, opOf, permissive, run } from '../testkit/controls.ts';
import { agentId, operator } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { StaleWatch } from './liveness.ts';
import { suspendAgent } from '../testkit/commands.ts';
import { alwaysListened } from '../testkit/manual-clock.ts';

const silentMs = 90_000;
let g: TestGovernance;
let bot: TestAgent;

beforeEach(async () => {
  g = await permissive();
  bot = await g.register(agentId('acme/search/bot'));
  await run(g, bot, 'a', 'b');
});

async function look(test = g): Promise<void> {
  const watch = new StaleWatch(test.gov, silentMs, alwaysListened);
  while (watch.step(3));
  await finish(test, test.gov.journal.committed());
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
const stale = () => [...g.opsOf(bot.id).values()].filter((op) => recordOf(op).stale).map((op) => op.opId);
const alerts = (test = g) =>
  test.events.flatMap((event) =>
    event.type === 'audit_alert' ? [`${event.alert} ${textOf(event.details['op_id'])}`] : [],
  );

describe('what an agent runs', () => {
  test('is stale when nothing was heard of the agent for long: told once, and no transition', async () => {
    await g.complete(bot, 'b:s');
    const { updatedAt } = opOf(g, bot, 'a:s');
    const entries = (await g.audit()).length;
    const published = g.events.length;
    g.clock.advance(silentMs - 1);
    await look();
    expect(stale()).toEqual([]);
    g.clock.advance(1);
    await look();
    await look();
    expect(stale()).toEqual(['a:s']);
    expect(g.events.slice(published)).toMatchObject([
      { type: 'audit_alert', alert: 'op_stale', agent: bot.id, details: { op_id: 'a:s' } },
    ]);
    expect(await g.audit()).toHaveLength(entries);
    expect(opOf(g, bot, 'a:s')).toMatchObject({ state: 'running', updatedAt });
  });

  test.each<[string, () => Promise<unknown>]>([
    ['a heartbeat', () => Promise.resolve(heartbeat(g.gov, bot.id, bot.token))],
    ['a check', () => g.check(bot)],
    ['another registration', () => g.register(bot.id)],
    ['a completion', () => run(g, bot, 'c').then(() => g.complete(bot, 'c:s'))],
    ['a control stream', () => listen(g, bot)],
  ])('is back with %s, and that is told, too', async (_, live) => {
    g.clock.advance(silentMs);
    await look();
    expect(alerts()).toEqual(['op_stale a:s', 'op_stale b:s']);
    await live();
    g.turn();
    expect(stale()).toEqual([]);
    expect(alerts()).toEqual(['op_stale a:s', 'op_stale b:s', 'op_back a:s', 'op_back b:s']);
    await look();
    expect(stale()).toEqual([]);
  });

  test('is not stale while the agent listens; its silence counts from the end of the stream', async () => {
    const listener = await listen(g, bot);
    g.clock.advance(10 * silentMs);
    await look();
    g.clock.advance(1000);
    listener.subscription.close();
    g.clock.advance(silentMs - 1);
    await look();
    expect(stale()).toEqual([]);
    g.clock.advance(1);
    await look();
    expect(stale()).toEqual(['a:s', 'b:s']);
  });

  test('is stale only while it runs', async () => {
    g.clock.advance(silentMs);
    await look();
    await control(g, bot, 'a:s', 'pause');
    expect(stale()).toEqual(['b:s']);
    await control(g, bot, 'a:s', 'resume');
    expect(stale()).toEqual(['a:s', 'b:s']);
    await look();
    expect(alerts()).toEqual(['op_stale a:s', 'op_stale b:s']);
    await control(g, bot, 'a:s', 'pause');
    await g.check(bot);
    expect(alerts()).toEqual(['op_stale a:s', 'op_stale b:s', 'op_back b:s']);
  });

  test('is back by a check that is refused, as the agent has shown who it is', async () => {
    await g.settle(suspendAgent(g.gov, operator, bot.id, ''));
    g.clock.advance(silentMs);
    await look();
    await g.check(bot);
    expect(g.known(bot.id).silent).toBe(false);
  });

  test('is not stale right after a restart: the wait starts anew', async () => {
    g.clock.advance(silentMs);
    const next = await g.crash();
    await look(next);
    next.clock.advance(silentMs - 1);
    await look(next);
    expect(alerts(next)).toEqual([]);
    next.clock.advance(1);
    await look(next);
    expect(alerts(next)).toEqual(['op_stale a:s', 'op_stale b:s']);
  });

  test('is told of again where that could not be made durable', async () => {
    g.clock.advance(silentMs);
    g.failure = new Error('full');
    await expect(look()).rejects.toMatchObject({ code: 'store_unavailable' });
    g.failure = undefined;
    expect(stale()).toEqual([]);
    await look();
    expect(alerts()).toEqual(['op_stale a:s', 'op_stale b:s']);
  });

  test('is told to be back only where it was told to be stale', async () => {
    g.clock.advance(silentMs);
    const watch = new StaleWatch(g.gov, silentMs, alwaysListened);
    expect(watch.step(3)).toBe(true);
    await finish(g, g.gov.journal.committed());
    expect(alerts()).toEqual(['op_stale a:s']);
    await g.check(bot);
    expect(alerts()).toEqual(['op_stale a:s', 'op_back a:s']);
  });

  test('stays stale where a sign of life could not be made durable, and is back with the next', async () => {
    g.clock.advance(silentMs);
    await look();
    g.failure = new Error('full');
    await expect(g.check(bot)).rejects.toMatchObject({ code: 'store_unavailable' });
    g.failure = undefined;
    expect([stale(), g.known(bot.id).silent]).toEqual([['a:s', 'b:s'], true]);
    await g.check(bot);
    expect(stale()).toEqual([]);
    expect(alerts()).toEqual(['op_stale a:s', 'op_stale b:s', 'op_back a:s', 'op_back b:s']);
  });
});
