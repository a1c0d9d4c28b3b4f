import type { Problem, RouteOutput, Routes } from '@reeve/contract/http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeKey } from '../harness/credentials.ts';
import { EventSocket } from '../harness/event-socket.ts';
import { eventually } from '../harness/eventually.ts';
import { bootstrapKey, TestGateway, toolCall } from '../harness/gateway.ts';

type Suspension = RouteOutput<Routes['suspendScope']>;
type List = RouteOutput<Routes['listSuspensions']>;
type OpJson = RouteOutput<Routes['getOp']>;
type Agent = RouteOutput<Routes['getAgent']>;

const policies = {
  'ask.yaml': 'default: allow\nrules:\n  - { name: ask, effect: require_approval, tools: [deploy] }\n',
};

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await TestGateway.start({ policies });
});
afterAll(() => gateway[Symbol.asyncDispose]());

const path = '/api/v1/suspensions';

async function suspend(scope: object, key = bootstrapKey, on = gateway): Promise<Suspension> {
  const body = { action: 'pause', reason: 'incident 42', ...scope };
  const answer = await on.api.post<Suspension>(path, key, body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

function lift({ id }: Pick<Suspension, 'id'>, key = bootstrapKey, on = gateway) {
  return on.api.send<Suspension & Problem>('DELETE', `${path}/${id}`, { bearer: key, json: { reason: 'it is over' } });
}

const stateOf = async (opId: string, on = gateway) =>
  (await on.api.get<OpJson>(`/api/v1/ops/${opId}`, bootstrapKey)).body.state;

test('a suspended org stands still, agents that register later included, until it is lifted', async () => {
  const agent = await gateway.register({ orgId: 'still', agentId: 'early' });
  const other = await gateway.register({ orgId: 'moving', agentId: 'free' });
  await gateway.check(agent, { traceId: 'still', spanId: 'op' });
  const stream = await EventSocket.open(gateway.http, { query: { types: 'suspension' } });
  const suspension = await suspend({ org_id: 'still' });
  expect(suspension).toEqual({
    id: expect.stringMatching(/^sus_/),
    org_id: 'still',
    team_id: null,
    action: 'pause',
    by: { kind: 'api_key', id: 'abcdefghijkl', label: 'bootstrap' },
    reason: 'incident 42',
    since: expect.any(String),
    operations: { matched: 1, changed: 1, skipped: 0, control_id: expect.stringMatching(/^ctl_/) },
  });
  const denied = { decision: 2, reason: 'org is suspended: incident 42', policyRule: 'control' };
  expect(await gateway.check(agent)).toMatchObject({ ...denied, opState: 'terminated' });
  const late = await gateway.register({ orgId: 'still', agentId: 'late' });
  expect(await gateway.check(late)).toMatchObject(denied);
  expect(await gateway.heartbeat(late)).toMatchObject({ suspended: true });
  expect(await gateway.check(other)).toMatchObject({ decision: 1 });
  expect(await gateway.check(agent, { traceId: 'still', spanId: 'op' })).toMatchObject({ decision: 3 });
  const shown = await gateway.api.get<Agent>('/api/v1/agents/still/core/late', bootstrapKey);
  expect(shown.body).toMatchObject({ status: 'suspended', suspended_by: 'org', suspended_reason: 'incident 42' });
  const receipts = await gateway.api.get(`/api/v1/control/${suspension.operations?.control_id}`, bootstrapKey);
  expect(receipts.body).toMatchObject({ kind: 'bulk', action: 'pause', receipts: [{ op_id: 'still:op' }] });
  const list = await gateway.api.get<List>(`${path}?org_id=still`, bootstrapKey);
  expect(list.body).toEqual({ items: [suspension], next_cursor: null, total: 1 });
  // A resumption waits for the scope.
  expect(await gateway.api.post('/api/v1/ops/still:op/resume', bootstrapKey, {})).toMatchObject({ status: 202 });
  expect(await stateOf('still:op')).toBe('paused');

  expect(await lift(suspension)).toMatchObject({ status: 200, body: { id: suspension.id } });
  expect(await stateOf('still:op')).toBe('running');
  expect(await gateway.check(late)).toMatchObject({ decision: 1 });
  expect(await lift(suspension)).toMatchObject({ status: 404, body: { code: 'suspension_not_found' } });
  expect((await gateway.api.get<List>(path, bootstrapKey)).body.total).toBe(0);
  const told = { org_id: 'still', event_type: 'suspension' };
  await eventually(() =>
    expect(stream.messages.slice(1)).toMatchObject([
      { ...told, payload: { change: 'suspended', suspension: { id: suspension.id } } },
      { ...told, payload: { change: 'resumed', suspension: { id: suspension.id } } },
    ]),
  );
  stream.socket.close();
  const entries = gateway.audit().filter(({ event_type: type }) => type.startsWith('Scope'));
  expect(entries).toMatchObject([
    { event_type: 'ScopeSuspended', reason: 'incident 42', lineage: { org_id: 'still' } },
    { event_type: 'ScopeResumed', reason: 'it is over', payload: { suspension_id: suspension.id } },
  ]);
});

test('what waits for approval goes on waiting: approving is refused, rejecting works', async () => {
  const agent = await gateway.register({ orgId: 'asking', agentId: 'bot' });
  const context = toolCall('deploy');
  const waiting = await gateway.check(agent, { traceId: 'asking', spanId: '1', context });
  const later = await gateway.check(agent, { traceId: 'asking', spanId: '2', context });
  const suspension = await suspend({ org_id: 'asking', team_id: 'core', action: 'terminate' });
  expect(suspension.operations).toMatchObject({ matched: 2, changed: 0, skipped: 2 });
  const verdict = (id: string, word: string) => gateway.api.post(`/api/v1/approvals/${id}/${word}`, bootstrapKey, {});
  const refused = await verdict(waiting.approvalId, 'approve');
  expect(refused).toMatchObject({ status: 409, body: { code: 'suspended' } });
  expect(await stateOf('asking:1')).toBe('pending');
  expect(await verdict(waiting.approvalId, 'reject')).toMatchObject({ status: 200 });
  await lift(suspension);
  expect(await verdict(later.approvalId, 'approve')).toMatchObject({ status: 200 });
  expect(await stateOf('asking:2')).toBe('running');
});

test('a mistyped scope is not there, for a control too, and everything is never empty', async () => {
  const agent = await gateway.register({ orgId: 'typed', agentId: 'bot' });
  const body = { action: 'pause', reason: '' };
  for (const scope of [{ org_id: 'tpyed' }, { org_id: 'typed', team_id: 'nobody' }]) {
    expect(await gateway.api.post(path, bootstrapKey, { ...body, ...scope })).toMatchObject({
      status: 404,
      body: { code: 'scope_not_found' },
    });
    for (const dry_run of [true, false]) {
      const control = await gateway.api.post('/api/v1/control', bootstrapKey, { ...body, scope, dry_run });
      expect(control).toMatchObject({ status: 404, body: { code: 'scope_not_found' } });
    }
  }
  const run = { ...body, scope: { run_id: 'unheard-of' } };
  expect(await gateway.api.post('/api/v1/control', bootstrapKey, run)).toMatchObject({ status: 202 });
  const teamOnly = await gateway.api.post<Problem>(path, bootstrapKey, { ...body, team_id: 'core' });
  expect(teamOnly).toMatchObject({ status: 422, body: { errors: [{ pointer: '/team_id' }] } });
  const everything = await suspend({});
  expect(everything).toMatchObject({ org_id: null, team_id: null });
  expect(await gateway.check(agent)).toMatchObject({ reason: 'everything is suspended: incident 42' });
  expect(await lift(everything)).toMatchObject({ status: 200 });
});

test('a tenant suspends within its binding, lifts nothing wider, and learns nothing of others', async () => {
  const registrar = await makeKey(gateway, { scopes: ['admin'], org_id: 'bound' });
  const registered = await gateway.api.post<{ token: string }>('/api/v1/agents', registrar.key, {
    team_id: 'core',
    agent_id: 'bot',
  });
  const agent = { id: { orgId: 'bound', teamId: 'core', agentId: 'bot' }, token: registered.body.token };
  await gateway.register({ orgId: 'elsewhere', agentId: 'bot' });
  const admin = await makeKey(gateway, { scopes: ['admin'], org_id: 'bound' });
  const writer = await makeKey(gateway, { scopes: ['write'], org_id: 'bound' });
  const post = (key: string, scope: object) =>
    gateway.api.post<Problem>(path, key, { action: 'pause', reason: '', ...scope });
  expect(await post(writer.key, { org_id: 'bound' })).toMatchObject({ status: 403, body: { required_scope: 'admin' } });
  expect(await post(admin.key, {})).toMatchObject({ status: 403, body: { code: 'tenant_bound' } });
  expect(await post(admin.key, { org_id: 'elsewhere' })).toMatchObject({ status: 404 });
  const own = await suspend({ org_id: 'bound' }, admin.key);
  const everything = await suspend({});
  const seen = await gateway.api.get<List>(path, admin.key);
  expect(seen.body.items.map(({ id, operations }) => [id, operations === null])).toEqual([
    [everything.id, true],
    [own.id, false],
  ]);
  expect(await lift(everything, admin.key)).toMatchObject({ status: 403, body: { code: 'imposed_by_wider' } });
  expect(await lift(own, registrar.key)).toMatchObject({ status: 403, body: { code: 'own_agent' } });
  expect(await lift(own, writer.key)).toMatchObject({ status: 403, body: { required_scope: 'admin' } });
  await lift(everything);
  expect(await gateway.check(agent)).toMatchObject({ decision: 2 });
  expect(await lift(own, admin.key)).toMatchObject({ status: 200 });
  expect(await gateway.check(agent)).toMatchObject({ decision: 1 });
});

test('it holds over a kill, and is lifted after it', async () => {
  await using first = await TestGateway.start({ policies });
  const agent = await first.register({ orgId: 'killed', agentId: 'bot' });
  await first.check(agent, { traceId: 'killed', spanId: 'op' });
  const suspension = await suspend({ org_id: 'killed' }, bootstrapKey, first);
  await using second = await first.restart('SIGKILL', { policies });
  expect(await second.check(agent)).toMatchObject({ reason: 'org is suspended: incident 42' });
  expect(await stateOf('killed:op', second)).toBe('paused');
  expect(await lift(suspension, bootstrapKey, second)).toMatchObject({ status: 200 });
  expect(await second.check(agent)).toMatchObject({ decision: 1 });
  expect(await stateOf('killed:op', second)).toBe('running');
});

test('from the answer on nothing is allowed, however many checks are on their way', async () => {
  const agents = await Promise.all(
    Array.from({ length: 8 }, (_, i) => gateway.register({ orgId: 'busy', agentId: `bot-${i}` })),
  );
  const suspended = { at: Number.POSITIVE_INFINITY };
  const allowedAt: number[] = [];
  let denied = 0;
  const asking = agents.map(async (agent) => {
    while (denied < 200) {
      const { decision } = await gateway.check(agent);
      if (decision === 1) allowedAt.push(performance.now());
      else denied++;
    }
  });
  await eventually(() => expect(allowedAt.length).toBeGreaterThan(100));
  const suspension = await suspend({ org_id: 'busy' });
  suspended.at = performance.now();
  await Promise.all(asking);
  expect(allowedAt.filter((at) => at > suspended.at)).toEqual([]);
  const running = await gateway.api.get<{ total: number }>('/api/v1/ops?org_id=busy&state=running', bootstrapKey);
  expect(running.body.total).toBe(0);
  await lift(suspension);
});
