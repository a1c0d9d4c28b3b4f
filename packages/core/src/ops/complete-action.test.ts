import { describe, expect, test } from 'vitest';
import { system } from '../audit/entry.ts';
import { agentId } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import { moveOp } from './move-op.ts';
import type { Op } from './op.ts';

const bot = agentId('acme/search/bot');

async function running(): Promise<{ test: TestGovernance; agent: TestAgent; op: Op }> {
  const test = await testGovernance();
  await test.policies('default: allow');
  const agent = await test.register(bot);
  await test.check(agent, { traceId: 't', spanId: 's', estimatedCostMicros: 100 });
  return { test, agent, op: test.gov.ops.get(test.known(bot), 't:s') };
}

describe('completing an action', () => {
  test('moves it to completing, with one event and one entry by the agent', async () => {
    const { test, agent } = await running();
    const entries = (await test.audit()).length;
    const published = test.events.length;
    test.clock.advance(1500);
    const record = await test.complete(agent, 't:s', { outcome: 'failed', detail: 'timed out' });
    expect(record).toMatchObject({ opId: 't:s', state: 'completing', updatedAt: test.clock.now(), costMicros: 100 });
    expect(test.events.slice(published)).toMatchObject([
      { type: 'ops_change', op: { opId: 't:s', state: 'completing' } },
    ]);
    expect((await test.audit()).slice(entries)).toMatchObject([
      {
        event_type: 'OpStateChanged',
        op_id: 't:s',
        trace_id: 't',
        span_id: 's',
        actor: { id: 'acme/search/bot', kind: 'agent' },
        reason: null,
        decision: null,
        payload: {
          from: 'running',
          to: 'completing',
          trigger: 'complete',
          outcome: 'failed',
          detail: 'timed out',
          cost_micros: 100,
          reserved_micros: 100,
        },
      },
    ]);
  });

  test.each([
    [null, 100],
    [0, 0],
    [40, 40],
    [250, 250],
  ])('with an actual cost of %s settles %d', async (actual, settled) => {
    const { test, agent, op } = await running();
    expect(await test.complete(agent, 't:s', { actualCostMicros: actual })).toMatchObject({ costMicros: settled });
    expect(op.costMicros).toBe(settled);
  });

  test.each([
    ['a negative cost', { actualCostMicros: -1 }, 'actual_cost_micros: must not be negative'],
    [
      'a cost beyond counting',
      { actualCostMicros: 2 ** 53 },
      'actual_cost_micros: must be at most 1000000000 (1000.00 USD)',
    ],
    [
      'a cost above what one action may cost',
      { actualCostMicros: 1_000_000_001 },
      'actual_cost_micros: must be at most 1000000000 (1000.00 USD)',
    ],
    ['a long detail', { detail: 'x'.repeat(8193) }, 'detail: must be at most 8192 characters'],
  ])('with %s is refused and changes nothing', async (_, members, message) => {
    const { test, agent, op } = await running();
    await expect(test.complete(agent, 't:s', members)).rejects.toMatchObject({ code: 'invalid_argument', message });
    expect(op).toMatchObject({ state: 'running', costMicros: 100 });
  });

  test.each([
    [100_000, 1_000_001, true],
    [100_000, 1_000_000, false],
    [0, 1_000_001, true],
    [100_001, 1_000_010, false],
    [100_001, 1_000_011, true],
    [10, 900_000, false],
    [null, 1_500_000, true],
  ])('of %s held back with %s in the end: an overrun is told of (%s), and booked', async (held, actual, told) => {
    const test = await testGovernance();
    await test.policies('default: allow');
    const agent = await test.register(bot);
    await test.check(agent, { traceId: 't', spanId: 's', estimatedCostMicros: held });
    await test.complete(agent, 't:s', { actualCostMicros: actual });
    const alerts = test.events.filter(({ type }) => type === 'audit_alert');
    const entries = (await test.audit()).filter((entry) => entry.event_type === 'BudgetOverrun');
    expect(test.gov.ledger.read({ tier: 'agent', ...bot }).spent.day).toBe(actual);
    if (!told) return expect([alerts, entries]).toEqual([[], []]);
    expect(entries).toMatchObject([
      {
        op_id: 't:s',
        lineage: { org_id: 'acme', agent_id: 'bot' },
        payload: { actual_micros: actual, reserved_micros: held ?? 0 },
      },
    ]);
    expect(alerts).toMatchObject([{ alert: 'budget_overrun', agent: bot, details: { op_id: 't:s' } }]);
  });

  test('of an unknown operation is refused', async () => {
    const { test, agent } = await running();
    await expect(test.complete(agent, 't:other')).rejects.toMatchObject({ code: 'op_not_found' });
  });

  test('twice is refused the second time, and its cost stays', async () => {
    const { test, agent, op } = await running();
    await test.complete(agent, 't:s', { actualCostMicros: 40 });
    const entries = (await test.audit()).length;
    const published = test.events.length;
    await expect(test.complete(agent, 't:s', { actualCostMicros: 999 })).rejects.toMatchObject({
      code: 'invalid_transition',
      facts: { state: 'completing', allowed: [] },
    });
    expect(op.costMicros).toBe(40);
    expect(await test.audit()).toHaveLength(entries);
    expect(test.events).toHaveLength(published);
  });

  test('of a paused operation is refused, and its cost stays', async () => {
    const { test, agent, op } = await running();
    moveOp(test.gov, op, 'pause', { actor: system, reason: '' });
    test.turn();
    await expect(test.complete(agent, 't:s', { actualCostMicros: 999 })).rejects.toMatchObject({
      code: 'invalid_transition',
    });
    expect(op).toMatchObject({ state: 'paused', costMicros: 100 });
  });

  test('is taken back where the store fails', async () => {
    const { test, agent, op } = await running();
    const before = { ...op };
    test.failure = new Error('the disk is full');
    await expect(test.complete(agent, 't:s', { actualCostMicros: 7 })).rejects.toMatchObject({
      code: 'store_unavailable',
    });
    expect(op).toEqual(before);
    test.failure = undefined;
    expect(await test.complete(agent, 't:s')).toMatchObject({ state: 'completing', costMicros: 100 });
  });

  test('keeps secrets in the detail out of the log', async () => {
    const { test, agent } = await running();
    const secret = `ghp_${'x'.repeat(36)}`;
    await test.complete(agent, 't:s', { detail: `failed with ${secret}` });
    expect(JSON.stringify(await test.audit())).not.toContain(secret);
  });
});

describe('a change that no decision causes', () => {
  test('writes one entry and one event, with who, why and between which states', async () => {
    const { test, op } = await running();
    const entries = (await test.audit()).length;
    const published = test.events.length;
    moveOp(test.gov, op, 'pause', { actor: system, reason: 'look at it' });
    test.turn();
    expect((await test.audit()).slice(entries)).toMatchObject([
      {
        event_type: 'OpStateChanged',
        actor: system,
        reason: 'look at it',
        payload: { from: 'running', to: 'paused', trigger: 'pause' },
      },
    ]);
    expect(test.events.slice(published)).toMatchObject([{ type: 'ops_change', op: { state: 'paused' } }]);
  });

  test('that is refused writes, publishes and changes nothing', async () => {
    const { test, op } = await running();
    const entries = (await test.audit()).length;
    const published = test.events.length;
    expect(() => moveOp(test.gov, op, 'resume', { actor: system, reason: 'x' })).toThrow(
      expect.objectContaining({ code: 'invalid_transition' }),
    );
    test.turn();
    expect(await test.audit()).toHaveLength(entries);
    expect(test.events).toHaveLength(published);
  });

  test('a termination that changes nothing writes and publishes nothing, and keeps the first reason', async () => {
    const { test, op } = await running();
    moveOp(test.gov, op, 'terminate', { actor: system, reason: 'first' });
    test.turn();
    const entries = (await test.audit()).length;
    const published = test.events.length;
    moveOp(test.gov, op, 'terminate', { actor: system, reason: 'second' });
    test.turn();
    expect(op.reason).toBe('first');
    expect(await test.audit()).toHaveLength(entries);
    expect(test.events).toHaveLength(published);
  });

  test('that cannot be made durable is taken back, with its reason', async () => {
    const { test, op } = await running();
    const before = { ...op };
    test.failure = new Error('the disk is full');
    moveOp(test.gov, op, 'terminate', { actor: system, reason: 'stop' });
    test.turn();
    expect(op).toEqual(before);
  });
});
