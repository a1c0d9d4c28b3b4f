import { ingest } from '../testkit/registered-ops.ts';
import { describe, expect, test } from 'vitest';
import { longest } from '../kernel/bounds.ts';
import { agentId, operator } from '../testkit/requests.ts';
import type { TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import { moveOp } from './move-op.ts';
import type { Completion } from './complete-op.ts';
import type { Op } from './op.ts';
import { completeOp } from '../testkit/commands.ts';

const bot = agentId('acme/search/bot');

async function running(): Promise<{ test: TestGovernance; op: Op }> {
  const test = await testGovernance();
  await test.policies('default: allow');
  const agent = await test.register(bot);
  await test.check(agent, { traceId: 't', spanId: 's', estimatedCostMicros: 100 });
  return { test, op: test.gov.ops.get(test.known(bot), 't:s') };
}

function complete(test: TestGovernance, op: Op, members: Partial<Completion> = {}, by = operator, reason = '') {
  const completion = { actualCostMicros: null, outcome: null, detail: '', ...members };
  return test.settle(completeOp(test.gov, by, op, completion, reason));
}

describe('completing an operation in place of its agent', () => {
  test('moves it to completing, with one event and one entry by the caller', async () => {
    const { test, op } = await running();
    const entries = (await test.audit()).length;
    const published = test.events.length;
    const by = { ...operator, requestId: 'r-1' };
    const record = await complete(test, op, { outcome: 'cancelled', detail: 'by hand' }, by);
    expect(record).toMatchObject({ opId: 't:s', state: 'completing', costMicros: 100 });
    expect(test.events.slice(published)).toMatchObject([{ type: 'ops_change', op: { state: 'completing' } }]);
    expect((await test.audit()).slice(entries)).toMatchObject([
      {
        event_type: 'OpStateChanged',
        actor: operator.actor,
        payload: {
          from: 'running',
          to: 'completing',
          trigger: 'complete',
          outcome: 'cancelled',
          detail: 'by hand',
          cost_micros: 100,
          request_id: 'r-1',
        },
      },
    ]);
  });

  test('keeps why, without secrets', async () => {
    const { test, op } = await running();
    const { reason } = await complete(test, op, {}, operator, 'its agent is gone, password=hunter2');
    expect((await test.audit()).at(-1)).toMatchObject({ reason: 'its agent is gone, password=[redacted]' });
    // The reason for which it was allowed stays.
    expect(reason).toBe('allowed by default');
  });

  test('settles the cost that it is given', async () => {
    const { test, op } = await running();
    expect(await complete(test, op, { actualCostMicros: 7 })).toMatchObject({ costMicros: 7 });
  });

  test.each([
    [7, '2023-11-14'],
    [0, undefined],
  ])('of %d micros says to which day they are booked: %j', async (actualCostMicros, booked) => {
    const { test, op } = await running();
    await complete(test, op, { actualCostMicros });
    const event = test.events.findLast((each) => each.type === 'ops_change');
    const entry = (await test.audit()).findLast(({ event_type: type }) => type === 'OpStateChanged');
    expect([event?.booked, entry?.payload['booked']]).toEqual([booked, booked]);
  });

  test('is refused where the reason is too long', async () => {
    const { test, op } = await running();
    const refused = complete(test, op, {}, operator, 'x'.repeat(longest.text + 1));
    await expect(refused).rejects.toMatchObject({ code: 'invalid_argument', facts: { field: 'reason' } });
    expect(op.state).toBe('running');
  });

  test('needs the scope "write", and without it changes nothing', async () => {
    const { test, op } = await running();
    await expect(complete(test, op, {}, { ...operator, scopes: ['read'] })).rejects.toMatchObject({
      code: 'insufficient_scope',
    });
    expect(op.state).toBe('running');
  });

  test.each(['pending', 'paused', 'completing', 'terminated'] as const)(
    'is refused where it is %s, and writes and publishes nothing',
    async (state) => {
      const { test, op } = await running();
      const move = { pending: undefined, paused: 'pause', completing: 'complete', terminated: 'terminate' } as const;
      const trigger = move[state];
      const target = trigger === undefined ? ingest(test.gov, test.known(bot), 'p:s').op : op;
      if (trigger !== undefined) moveOp(test.gov, op, trigger, { actor: operator.actor, reason: '' });
      test.turn();
      const entries = (await test.audit()).length;
      const published = test.events.length;
      const { costMicros } = target;
      await expect(complete(test, target, { actualCostMicros: 999 })).rejects.toMatchObject({
        code: 'invalid_transition',
        facts: { state },
      });
      expect(target).toMatchObject({ state, costMicros });
      expect(await test.audit()).toHaveLength(entries);
      expect(test.events).toHaveLength(published);
    },
  );

  test('is taken back where the store fails', async () => {
    const { test, op } = await running();
    const before = { ...op };
    test.failure = new Error('the disk is full');
    await expect(complete(test, op, { actualCostMicros: 7 })).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(op).toEqual(before);
  });
});
