import { expect, test } from 'vitest';
import { TestGateway, toolCall } from '../harness/gateway.ts';

const policy = `
name: starter
rules:
  - name: reading
    effect: allow
    actions: [tool_call]
    tools: [search, "read_*"]
  - name: no-deletes
    effect: deny
    tools: ["delete_*"]
`;

test('an agent registers, asks, gets a governed answer, and it is on record', async () => {
  await using gateway = await TestGateway.start({ policies: { 'starter.yaml': policy }, fromSources: true });
  const agent = await gateway.register({ agentId: 'bot' });
  const allowed = await gateway.check(agent, { traceId: 't1', spanId: 's1', context: toolCall('search', { q: 'x' }) });
  expect(allowed).toMatchObject({ decision: 1, policyRule: 'starter/reading', opId: 't1:s1', opState: 'running' });
  const denied = await gateway.check(agent, { context: toolCall('delete_all') });
  expect(denied).toMatchObject({ decision: 2, policyRule: 'starter/no-deletes', opState: 'terminated' });
  const completed = await gateway.complete(agent, 't1:s1');
  expect(completed).toMatchObject({ opId: 't1:s1', state: 'completing' });
  expect(gateway.audit().map((entry) => entry.event_type)).toEqual([
    'PolicyReloaded',
    'SigningKeyRotated',
    'ApiKeyCreated',
    'AgentRegistered',
    'ActionAllowed',
    'ActionDenied',
    'OpStateChanged',
  ]);
});
