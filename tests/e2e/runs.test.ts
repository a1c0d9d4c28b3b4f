import { setTimeout as pause } from 'node:timers/promises';
import { Decision } from '@reeve/contract';
import { expect, test } from 'vitest';
import { delegate } from '../harness/delegate.ts';
import { eventually } from '../harness/eventually.ts';
import type { Registered, TestGateway } from '../harness/gateway.ts';
import { toolCall } from '../harness/gateway.ts';
import { durableStores, sqliteStore } from '../harness/stores.ts';

const policy = `
name: p
default: allow
rules:
  - { name: few, effect: deny, tools: [x], when: run.checks >= 4 }
  - { name: cheap, effect: deny, tools: [pay], when: run.spent_usd > 1.0 }
`;
const policies = { 'p.yaml': policy };
const { ALLOW: allow, DENY: deny } = Decision;

async function decisions(gateway: TestGateway, agents: readonly Registered[], members: object): Promise<Decision[]> {
  const found: Decision[] = [];
  for (const agent of agents) found.push((await gateway.check(agent, members)).decision);
  return found;
}

test.each(durableStores)(
  'what a run has done is known after a kill, whether it was saved or not, on $name',
  async ({ open }) => {
    await using store = await open();
    // Runs are saved at the first tick, and then every half minute.
    const options = { policies, env: { SVC_OPS_SWEEP_TICK_SECS: '0.2' } };
    let gateway = await store.start(options);
    const [bot, mate] = [await gateway.register({ agentId: 'bot' }), await gateway.register({ agentId: 'mate' })];
    const run = { context: toolCall('x'), runId: 'r' };
    expect(await decisions(gateway, [bot, mate], run)).toEqual([allow, allow]);
    expect(await decisions(gateway, [bot], { ...run, estimatedCostMicros: 900_000 })).toEqual([allow]);
    expect(await decisions(gateway, [bot, bot, bot], { context: toolCall('x') })).toEqual([allow, allow, allow]);
    await gateway.kill();
    gateway = await store.start(options);
    expect(await decisions(gateway, [mate, bot], run)).toEqual([allow, deny]);
    expect(await decisions(gateway, [bot, bot], { context: toolCall('x') })).toEqual([allow, deny]);
    const pay = { context: toolCall('pay'), runId: 'r', estimatedCostMicros: 200_000 };
    await gateway.kill();
    gateway = await store.start(options);
    expect(await decisions(gateway, [mate, mate], pay)).toEqual([allow, deny]);
    expect(await decisions(gateway, [mate], { ...run, runId: 'another' })).toEqual([allow]);
  },
  120_000,
);

test('a delegate without a run of its own is in that of its delegator', async () => {
  await using store = await sqliteStore.open();
  let gateway = await store.start({ policies });
  const boss = await gateway.register({ agentId: 'boss' });
  const child = await delegate(gateway, boss, 'child');
  const x = { context: toolCall('x') };
  expect(await decisions(gateway, [boss, child, boss], x)).toEqual([allow, allow, allow]);
  await gateway.kill();
  gateway = await store.start({ policies });
  expect(await decisions(gateway, [child, child, boss], x)).toEqual([allow, deny, deny]);
});

test('a run that was quiet for long is forgotten: its id is a new run', async () => {
  await using store = await sqliteStore.open();
  const options = { policies, env: { SVC_RUN_TTL_SECS: '1', SVC_OPS_SWEEP_TICK_SECS: '0.2' } };
  const gateway = await store.start(options);
  const bot = await gateway.register({ agentId: 'bot' });
  const ended = { context: toolCall('x'), runId: 'ended' };
  const open = { context: toolCall('x'), runId: 'open' };
  for (let at = 0; at < 4; at++) {
    const { opId } = await gateway.check(bot, ended);
    await gateway.complete(bot, opId);
    await gateway.check(bot, open);
  }
  expect(await decisions(gateway, [bot], ended)).toEqual([deny]);
  // The passing of time is what this is about.
  await pause(1200);
  expect(await decisions(gateway, [bot], ended)).toEqual([allow]);
  expect(await decisions(gateway, [bot], open)).toEqual([deny]);
});

test('a labelled run that was forgotten begins anew, and the log says so once', async () => {
  await using store = await sqliteStore.open();
  const labelling = `
name: p
default: allow
rules:
  - { name: mail, effect: allow, tools: [mail], labels: [mail] }
  - { name: no-post, effect: deny, tools: [post], when: '"mail" in run.labels' }
`;
  const options = { policies: { 'p.yaml': labelling }, env: { SVC_RUN_TTL_SECS: '1' } };
  let gateway = await store.start(options);
  const bot = await gateway.register({ agentId: 'bot' });
  const { opId } = await gateway.check(bot, { context: toolCall('mail'), runId: 'r' });
  const post = { context: toolCall('post'), runId: 'r' };
  expect(await decisions(gateway, [bot], post)).toEqual([deny]);
  await gateway.complete(bot, opId);
  const completedAt = Date.now();
  await gateway.kill();
  gateway = await store.start(options);
  await eventually(() => expect(Date.now() - completedAt).toBeGreaterThan(1000));
  expect(await decisions(gateway, [bot, bot], post)).toEqual([allow, allow]);
  const started = gateway.audit().filter(({ event_type: type }) => type === 'RunStarted');
  expect(started).toMatchObject([{ payload: { run_id: 'r' }, lineage: { agent_id: 'bot' } }]);
});
