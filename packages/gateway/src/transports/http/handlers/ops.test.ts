import { setImmediate as nextTurn } from 'node:timers/promises';
import { executorOf } from '@reeve/core';
import type { TestGovernance } from '@reeve/core/testkit';
import { agentId, operator, testGovernance } from '@reeve/core/testkit';
import { expect, test } from 'vitest';
import { opsHandlers } from './ops.ts';

async function world() {
  const governance = await testGovernance();
  await governance.policies('default: allow');
  const agent = await governance.register(agentId('acme/search/bot'));
  await governance.check(agent, { traceId: 't', spanId: 's' });
  const handlers = opsHandlers(governance.gov, executorOf(governance.gov));
  const call = {
    requestId: 'r',
    hasLeft: () => false,
    from: { address: '', userAgent: '', requestId: 'r' },
    principal: operator,
  };
  const id = { query: undefined, headers: undefined, params: { id: 't:s' } };
  const pause = async () => handlers.pauseOp({ ...id, body: { reason: '' } }, call);
  const complete = async () => {
    const body = { actual_cost_micros: null, outcome: null, detail: '', reason: '' };
    return handlers.completeOp({ ...id, body }, call);
  };
  const read = async () => handlers.getOp({ ...id, body: undefined }, call);
  const list = async () => {
    const query = { per_page: 50 };
    return handlers.listOps({ query, headers: undefined, params: undefined, body: undefined }, call);
  };
  return { governance, pause, complete, read, list };
}

/** Ends the turn as the event loop does, once all work that does not wait is done. */
async function settled(governance: TestGovernance, ...calls: Promise<unknown>[]): Promise<unknown[]> {
  const settling = Promise.allSettled(calls);
  await nextTurn();
  governance.turn();
  return (await settling).map((result) => (result.status === 'fulfilled' ? result.value : result.reason));
}

test('the second of two is refused with a state that is durable', async () => {
  const { governance, pause, complete } = await world();
  const refusal = { code: 'invalid_transition', facts: { state: 'paused' } };
  expect(await settled(governance, pause(), pause(), complete())).toMatchObject([
    { op: { state: 'paused' } },
    refusal,
    refusal,
  ]);
});

test('where the first cannot be made durable, nobody is told of a state that never was', async () => {
  const { governance, pause, complete, read, list } = await world();
  governance.failure = new Error('the disk is full');
  const answers = await settled(governance, pause(), pause(), complete(), read(), list());
  expect(answers).toMatchObject(answers.map(() => ({ code: 'store_unavailable' })));
  governance.failure = undefined;
  expect(await settled(governance, read())).toMatchObject([{ state: 'running', control: null }]);
});
