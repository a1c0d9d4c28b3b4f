import { Decision } from '@reeve/contract';
import { expect, test } from 'vitest';
import { startClient } from '../../test/client.ts';
import { answering } from '../../test/scripted-answers.ts';
import type { Script } from '../../test/scripted-gateway.ts';
import { ActionDeniedError } from '../action-denied.ts';
import { governCall } from './govern-call.ts';
import { refusedResult } from './mcp-result.ts';
import { refusalError } from './refusal.ts';

const details = { traceId: 't', spanId: 's', waitMs: 60_000 };
const holding: Script = {
  checkAction: (request) =>
    answering(Decision.PENDING, request, { approvalId: 'ap-1', opState: 'pending', policyRule: 'payments/ask' }),
};

test('a held call that a person rejects names the rule that asked', async () => {
  await using client = await startClient(holding);
  await expect.poll(() => client.gateway.streams.size, { timeout: 20_000 }).toBe(1);
  const call = governCall(client.agent, { action: { tool: 'pay' }, details }, () => 'paid');
  await expect.poll(() => client.gateway.count('checkAction'), { timeout: 20_000 }).toBe(1);
  // This gateway answers in the order of the calls, so the call knows that it is held.
  await client.agent.heartbeat();
  client.gateway.control('t:s', 'TERMINATE', { reason: 'rejected by ada' });
  const outcome = await call;
  if (!('refusal' in outcome)) throw new Error('the call happened');
  const { refusal } = outcome;
  expect(refusal).toMatchObject({ kind: 'denied', reason: 'rejected by ada', policyRule: 'payments/ask', opId: 't:s' });
  expect(refusedResult(refusal)._meta['reeve.dev/decision']).toMatchObject({
    decision: 'deny',
    policy_rule: 'payments/ask',
  });
  const error = refusalError(refusal);
  expect(error).toBeInstanceOf(ActionDeniedError);
  expect(error.answer).toMatchObject({ decision: 'deny', policyRule: 'payments/ask' });
});
