import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Registered } from '../harness/gateway.ts';
import { allowAll, TestGateway } from '../harness/gateway.ts';

let gateway: TestGateway;
let ada: Registered;
let eve: Registered;
beforeAll(async () => {
  gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
  ada = await gateway.register({ orgId: 'acme', agentId: 'ada' });
  eve = await gateway.register({ orgId: 'globex', agentId: 'eve' });
});
afterAll(() => gateway[Symbol.asyncDispose]());

const denied = { decision: 2, policyRule: 'identity', opId: '', opState: '' };

test('no token: missing credential token, recorded under the org of the agent that was claimed', async () => {
  expect(await gateway.check({ ...ada, token: '' })).toMatchObject({ ...denied, reason: 'missing credential token' });
  expect(gateway.audit().at(-1)).toMatchObject({
    event_type: 'ActionDenied',
    decision: 'deny',
    policy_rule: 'identity',
    lineage: { org_id: 'acme', agent_id: 'ada' },
    actor: { kind: 'unauthenticated' },
    op_id: null,
  });
});

test('a token that nobody has: credential token mismatch', async () => {
  const answer = await gateway.check({ ...ada, token: 'x'.repeat(40) });
  expect(answer).toMatchObject({ ...denied, reason: 'credential token mismatch' });
  expect(gateway.audit().at(-1)).toMatchObject({ event_type: 'ActionDenied', lineage: { org_id: 'acme' } });
});

test('an unregistered claim is recorded without an org', async () => {
  const nobody = { orgId: 'initech', teamId: 'core', agentId: 'nobody' };
  const answer = await gateway.check({ id: nobody, token: 'x'.repeat(40) });
  expect(answer).toMatchObject({ ...denied, reason: 'agent is not registered' });
  expect(gateway.audit().at(-1)).toMatchObject({
    event_type: 'ActionDenied',
    lineage: { org_id: null },
    payload: { claimed_org_id: 'initech', claimed_agent_id: 'nobody' },
  });
});

test.each([
  ['an unregistered agent of another org', { orgId: 'globex', teamId: 'core', agentId: 'ada' }],
  ['a registered agent of another org', { orgId: 'globex', teamId: 'core', agentId: 'eve' }],
])('a valid token with the claim to be %s is an impersonation, under the real owner', async (_what, claim) => {
  const answer = await gateway.check({ id: claim, token: ada.token });
  expect(answer).toMatchObject({ ...denied, reason: 'credential token registered to a different agent' });
  expect(gateway.audit().at(-1)).toMatchObject({
    event_type: 'A2AImpersonationAttempted',
    decision: 'deny',
    lineage: { org_id: 'acme', agent_id: 'ada' },
    actor: { kind: 'agent', id: 'acme/core/ada' },
    payload: {
      claimed_org_id: 'globex',
      claimed_team_id: 'core',
      claimed_agent_id: claim.agentId,
      owner_org_id: 'acme',
      owner_team_id: 'core',
      owner_agent_id: 'ada',
    },
  });
});

test('nobody but its owner sees or touches an operation, whatever trace and span they send', async () => {
  const ids = { traceId: 'shared-trace', spanId: 'shared-span' };
  const own = await gateway.check(ada, ids);
  expect(own).toMatchObject({ decision: 1, opId: 'shared-trace:shared-span', opState: 'running' });

  expect(await gateway.check({ ...ada, token: '' }, ids)).toMatchObject(denied);
  expect(await gateway.check({ id: ada.id, token: eve.token }, ids)).toMatchObject(denied);
  await expect(gateway.complete({ id: ada.id, token: eve.token }, own.opId)).rejects.toMatchObject({ code: 16 });
  await expect(gateway.complete(eve, own.opId)).rejects.toMatchObject({ code: 5 });

  const others = await gateway.check(eve, ids);
  expect(others).toMatchObject({ decision: 1, opId: own.opId, opState: 'running' });
  expect(await gateway.complete(eve, own.opId)).toMatchObject({ state: 'completing', agentId: eve.id });
  expect(await gateway.check(ada, ids)).toMatchObject({ decision: 1, opState: 'running' });
});

test('a refusal by identity leaves no operation', async () => {
  const ids = { traceId: 'refused', spanId: 'first' };
  await gateway.check({ ...ada, token: '' }, ids);
  await expect(gateway.complete(ada, 'refused:first')).rejects.toMatchObject({ code: 5 });
  expect(await gateway.check(ada, ids)).toMatchObject({ decision: 1, opState: 'running' });
});
