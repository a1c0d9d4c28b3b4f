import type { CompleteActionRequest } from '@reeve/contract';
import { Decision } from '@reeve/contract';
import { expect, test } from 'vitest';
import { startClient } from '../test/client.ts';
import { answering, denying } from '../test/scripted-answers.ts';
import type { Script } from '../test/scripted-gateway.ts';

const ids = { traceId: 't', spanId: 's' };
const holding: Script = {
  checkAction: (request) =>
    answering(Decision.PENDING, request, { approvalId: 'ap-1', opState: 'pending', reason: 'needs approval' }),
};

/** A client that waits for the decision about a held action. */
async function startWaiting() {
  const client = await startClient(holding);
  await expect.poll(() => client.gateway.streams.size, { timeout: 20_000 }).toBe(1);
  const decision = client.agent.decision({ tool: 'pay' }, ids);
  decision.catch(() => {});
  await expect.poll(() => client.gateway.count('checkAction'), { timeout: 20_000 }).toBe(1);
  return { client, decision };
}

test('waits until a held action is allowed, and does nothing more', async () => {
  const { client, decision } = await startWaiting();
  await using _ = client;
  client.gateway.control('t:s', 'ALLOW', { reason: 'approved by ada' });
  expect(await decision).toMatchObject({ decision: 'allow', allowed: true, reason: 'approved by ada', opId: 't:s' });
  expect(client.agent.operation('t:s')?.state).toBe('running');
  expect(client.gateway.messages<CompleteActionRequest>('completeAction')).toEqual([]);
});

test('says no once a held action is over', async () => {
  const { client, decision } = await startWaiting();
  await using _ = client;
  client.gateway.control('t:s', 'TERMINATE', { reason: 'rejected by ada' });
  expect(await decision).toMatchObject({
    decision: 'deny',
    allowed: false,
    opState: 'terminated',
    reason: 'rejected by ada',
  });
});

test('says no if the action is over before the answer that it is held', async () => {
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  await using client = await startClient({
    checkAction: async (request) => {
      await answered;
      return answering(Decision.PENDING, request, { approvalId: 'ap-1', opState: 'pending', reason: 'needs approval' });
    },
  });
  await expect.poll(() => client.gateway.streams.size, { timeout: 20_000 }).toBe(1);
  const decision = client.agent.decision({ tool: 'pay' }, ids);
  await expect.poll(() => client.gateway.count('checkAction'), { timeout: 20_000 }).toBe(1);
  client.gateway.control('t:s', 'TERMINATE', { reason: 'rejected by ada' });
  await expect.poll(() => client.gateway.count('ackOpControl'), { timeout: 20_000 }).toBeGreaterThan(0);
  answer();
  expect(await decision).toMatchObject({ decision: 'deny', opState: 'terminated', reason: 'rejected by ada' });
});

test('leaves an action held if nobody decides in time', async () => {
  await using client = await startClient(holding);
  const answer = await client.agent.decision({ tool: 'pay' }, { ...ids, waitMs: 50 });
  expect(answer).toMatchObject({ decision: 'pending', approvalId: 'ap-1' });
  expect(await client.agent.decision({ tool: 'pay' }, { ...ids, waitMs: 0 })).toMatchObject({ decision: 'pending' });
  expect(client.gateway.messages<CompleteActionRequest>('completeAction')).toEqual([]);
});

test('answers at once what is not held', async () => {
  await using client = await startClient({ checkAction: denying('no') });
  expect(await client.agent.decision({ tool: 'pay' }, ids)).toMatchObject({ decision: 'deny' });
});
