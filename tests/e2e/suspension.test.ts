import type { Problem, RouteOutput, Routes } from '@reeve/contract/http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeKey } from '../harness/credentials.ts';
import type { Registered } from '../harness/gateway.ts';
import { allowAll, bootstrapKey, TestGateway } from '../harness/gateway.ts';

type Agent = RouteOutput<Routes['getAgent']>;

let gateway: TestGateway;
beforeAll(async () => {
  // Nobody here confirms a control or sends heartbeats, and no alert about that comes between the entries.
  const env = { SVC_CONTROL_ACK_SECS: '3600', SVC_OPS_STALE_SECS: '3600' };
  gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll }, env });
});
afterAll(() => gateway[Symbol.asyncDispose]());

function pathOf({ id }: Registered): string {
  return `/api/v1/agents/${id.orgId === '' ? '-' : id.orgId}/${id.teamId === '' ? '-' : id.teamId}/${id.agentId}`;
}

async function change(action: 'suspend' | 'resume', agent: Registered, reason?: string, on = gateway): Promise<Agent> {
  const body = reason === undefined ? undefined : { reason };
  const answer = await on.api.post<Agent>(`${pathOf(agent)}/${action}`, bootstrapKey, body);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

const denied = { decision: 2, reason: 'agent is suspended', policyRule: 'identity', opId: '', opState: '' };

/** Expects denied checks, and a heartbeat that says why. */
async function expectSuspended(agent: Registered, on = gateway): Promise<void> {
  expect(await on.check(agent)).toMatchObject(denied);
  expect(await on.heartbeat(agent)).toMatchObject({ suspended: true });
  const { body } = await on.api.get<Agent>(pathOf(agent), bootstrapKey);
  expect(body).toMatchObject({ status: 'suspended' });
}

test('a suspended agent is denied, told so by its heartbeat, and shown so', async () => {
  const agent = await gateway.register({ agentId: 'rogue' });
  const other = await gateway.register({ agentId: 'honest' });
  expect(await change('suspend', agent, 'looks odd')).toMatchObject({
    agent_id: 'rogue',
    status: 'suspended',
    suspended_reason: 'looks odd',
  });
  await expectSuspended(agent);
  expect(gateway.audit().at(-1)).toMatchObject({
    event_type: 'ActionDenied',
    reason: 'agent is suspended',
    lineage: { org_id: 'acme', agent_id: 'rogue' },
  });
  expect(await gateway.check(other)).toMatchObject({ decision: 1 });
  const listed = await gateway.api.get<{ items: Agent[]; total: number }>(
    '/api/v1/agents?status=suspended',
    bootstrapKey,
  );
  expect(listed.body.items.map((item) => item.agent_id)).toEqual(['rogue']);
  const stats = await gateway.api.get('/api/v1/topology/stats?org_id=acme', bootstrapKey);
  expect(stats.body).toMatchObject({ by_status: { active: 1, suspended: 1 } });
  await change('resume', agent);
  expect(await gateway.heartbeat(agent)).toMatchObject({ suspended: false });
  expect(await gateway.check(agent)).toMatchObject({ decision: 1 });
});

test('its running operations are paused, also for their own replay, and run on when it is resumed', async () => {
  const agent = await gateway.register({ agentId: 'busy' });
  const [running, done] = [
    { traceId: 'busy', spanId: 'running' },
    { traceId: 'busy', spanId: 'done' },
  ];
  await gateway.check(agent, running);
  await gateway.check(agent, done);
  await gateway.complete(agent, 'busy:done');
  await gateway.api.send('POST', `${pathOf(agent)}/suspend`, {
    bearer: bootstrapKey,
    json: { reason: 'wait' },
    headers: { 'x-request-id': 'pausing' },
  });
  const [suspended, paused] = gateway.audit().slice(-2);
  const actor = { kind: 'api_key', id: 'abcdefghijkl', label: 'bootstrap' };
  expect(suspended).toMatchObject({
    event_type: 'AgentSuspended',
    actor,
    reason: 'wait',
    lineage: { org_id: 'acme', team_id: 'core', agent_id: 'busy' },
    payload: { request_id: 'pausing' },
  });
  expect(paused).toMatchObject({
    event_type: 'OpStateChanged',
    op_id: 'busy:running',
    actor,
    reason: 'wait',
    payload: { from: 'running', to: 'paused', trigger: 'pause' },
  });
  // Identity is checked before everything else, a replay included.
  expect(await gateway.check(agent, running)).toMatchObject(denied);
  await expect(gateway.complete(agent, 'busy:running')).rejects.toMatchObject({
    code: 9,
    details: expect.stringContaining('paused'),
  });
  const { text } = await gateway.api.get('/metrics');
  expect(text).toMatch(/^reeve_ops\{state="paused"\} 1$/m);
  expect((await gateway.api.get<Agent>(pathOf(agent), bootstrapKey)).body).toMatchObject({ in_flight: 1 });

  await change('resume', agent, 'it was nothing');
  const [resumed, running_on] = gateway.audit().slice(-2);
  expect(resumed).toMatchObject({ event_type: 'AgentResumed', actor, reason: 'it was nothing' });
  expect(running_on).toMatchObject({ op_id: 'busy:running', payload: { from: 'paused', to: 'running' } });
  expect(await gateway.check(agent, running)).toMatchObject({ decision: 1, opState: 'running' });
  expect(await gateway.complete(agent, 'busy:running')).toMatchObject({ state: 'completing' });
});

test('suspending or resuming again changes nothing and records nothing', async () => {
  const agent = await gateway.register({ agentId: 'twice' });
  await gateway.check(agent);
  const first = await change('suspend', agent, 'the first reason');
  const entries = gateway.audit().length;
  expect(await change('suspend', agent, 'another reason')).toEqual(first);
  expect(gateway.audit()).toHaveLength(entries);
  await change('resume', agent);
  const resumed = gateway.audit().length;
  expect(await change('resume', agent)).toMatchObject({ status: 'active', suspended_reason: null });
  expect(gateway.audit()).toHaveLength(resumed);
});

test('the reason may be left out, is kept without secrets, and has a limit', async () => {
  const agent = await gateway.register({ agentId: 'reasons' });
  expect(await change('suspend', agent)).toMatchObject({ status: 'suspended', suspended_reason: '' });
  expect(gateway.audit().at(-1)).toMatchObject({ event_type: 'AgentSuspended', reason: null });
  await change('resume', agent);
  const secret = `leaked ${bootstrapKey}`;
  const shown = await change('suspend', agent, secret);
  expect(shown.suspended_reason).toBe('leaked [redacted]');
  expect(JSON.stringify(gateway.audit().slice(-2))).not.toContain(bootstrapKey.slice(17));
  for (const [body, pointer] of [
    [{ reason: 'x'.repeat(8193) }, '/reason'],
    [{ reason: 7 }, '/reason'],
    [{ reason: null }, '/reason'],
    [{ until: 'tomorrow' }, '/until'],
  ] as const) {
    const answer = await gateway.api.post<Problem>(`${pathOf(agent)}/resume`, bootstrapKey, body);
    expect(answer).toMatchObject({ status: 422, body: { errors: [{ pointer }] } });
  }
  await expectSuspended(agent);
});

test('an agent without org and team is addressed with dashes', async () => {
  const lone = await gateway.register({ orgId: '', teamId: '', agentId: 'lone' });
  expect(await change('suspend', lone)).toMatchObject({ org_id: '', team_id: '', status: 'suspended' });
  await expectSuspended(lone);
});

test('a tenant suspends its own agents; of others it knows nothing, and nothing happens to them', async () => {
  const own = await gateway.register({ orgId: 'acme', agentId: 'own' });
  const team = await gateway.register({ orgId: 'acme', teamId: 'other', agentId: 'elsewhere' });
  const foreign = await gateway.register({ orgId: 'globex', agentId: 'foreign' });
  const org = await makeKey(gateway, { org_id: 'acme', scopes: ['write'] });
  const core = await makeKey(gateway, { org_id: 'acme', team_id: 'core', scopes: ['write'] });
  const reader = await makeKey(gateway, { org_id: 'acme', scopes: ['read'] });
  for (const action of ['suspend', 'resume']) {
    const to = (agent: Registered, { key }: { key: string }) => gateway.api.post(`${pathOf(agent)}/${action}`, key);
    expect(await to(foreign, org)).toMatchObject({ status: 404, body: { code: 'agent_not_found' } });
    expect(await to(foreign, core)).toMatchObject({ status: 404 });
    expect(await to(team, core)).toMatchObject({ status: 404 });
    expect(await to(own, reader)).toMatchObject({ status: 403, body: { required_scope: 'write' } });
    expect(await to({ ...own, id: { ...own.id, agentId: 'nobody' } }, org)).toMatchObject({ status: 404 });
    expect(await to(own, core)).toMatchObject({ status: 200 });
    expect(await to(team, org)).toMatchObject({ status: 200 });
  }
  for (const agent of [own, team, foreign]) expect(await gateway.check(agent)).toMatchObject({ decision: 1 });
});

test('a suspension outlives restart, registration and deregistration, and can be lifted after all of them', async () => {
  await using first = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
  const agent = await first.register({ agentId: 'stubborn' });
  const running = { traceId: 'still', spanId: 'there' };
  await first.check(agent, running);
  await change('suspend', agent, 'for good', first);

  await using second = await first.restart('SIGKILL');
  await expectSuspended(agent, second);
  await expect(second.complete(agent, 'still:there')).rejects.toMatchObject({ code: 9 });
  const again = await second.register({ agentId: 'stubborn' });
  await expectSuspended(again, second);
  expect(await second.check(agent)).toMatchObject({ reason: 'credential token mismatch' });

  await using third = await second.restart('SIGTERM');
  await expectSuspended(again, third);
  await change('resume', again, 'after all', third);
  expect(await third.check(again, running)).toMatchObject({ decision: 1, opState: 'running' });
  await change('suspend', again, 'for good', third);

  await third.deregister(again);
  const gone = await third.api.get(pathOf(again), bootstrapKey);
  expect(gone).toMatchObject({ status: 404, body: { code: 'agent_not_found' } });
  expect((await third.api.get('/api/v1/topology/stats', bootstrapKey)).body).toMatchObject({
    agents: 0,
    by_status: { active: 0, suspended: 0 },
    orgs: 0,
    teams: 0,
  });
  expect((await third.api.get('/metrics')).text).toMatch(/^reeve_agents 0$/m);
  expect(await third.check(again)).toMatchObject({ reason: 'agent is not registered' });

  await using fourth = await third.restart('SIGKILL');
  const back = await fourth.register({ agentId: 'stubborn' });
  await expectSuspended(back, fourth);
  expect((await fourth.api.get<Agent>(pathOf(back), bootstrapKey)).body).toMatchObject({
    suspended_reason: 'for good',
  });
  await change('resume', back, '', fourth);
  expect(await fourth.check(back)).toMatchObject({ decision: 1 });
  // What it had in flight when it left is shown until it is swept, and its id means that.
  expect(await fourth.check(back, running)).toMatchObject({ decision: 2, reason: 'agent deregistered' });
  expect((await fourth.api.get('/metrics')).text).toMatch(/^reeve_agents 1$/m);
});
