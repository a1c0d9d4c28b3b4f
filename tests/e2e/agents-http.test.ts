import type { RouteOutput, Routes } from '@reeve/contract/http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeKey } from '../harness/credentials.ts';
import { allowAll, bootstrapKey, TestGateway } from '../harness/gateway.ts';
import { Person, statusesOf } from '../harness/person.ts';

type Made = RouteOutput<Routes['registerAgent']> & { readonly code?: string };
type Agent = RouteOutput<Routes['getAgent']>;

let gateway: TestGateway;
beforeAll(async () => {
  const env = { SVC_PUBLIC_GRPC_ADDR: 'agents.example.com:443', SVC_LOG_LEVEL: 'trace' };
  gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll }, env });
});
afterAll(() => gateway[Symbol.asyncDispose]());

const register = (body: object, bearer = bootstrapKey) => gateway.api.post<Made>('/api/v1/agents', bearer, body);
const id = { orgId: 'acme', teamId: 'core', agentId: 'laptop' };
const wire = { org_id: 'acme', team_id: 'core', agent_id: 'laptop' };

test('an agent is registered with a token that works, is kept by nobody and is in no log', async () => {
  const answer = await register({ ...wire, name: 'Laptop', framework: 'claude-code' });
  expect(answer.status).toBe(201);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  const { token } = answer.body;
  expect(answer.body).toEqual({ agent: wire, token: expect.stringMatching(/^rva_[\w-]{43}$/), created: true });
  expect(await gateway.check({ id, token })).toMatchObject({ decision: 1 });
  const log = JSON.stringify(gateway.audit());
  expect(log).toContain('AgentRegistered');
  expect([log, gateway.output().stderr].join()).not.toContain(token);
});

test('an agent that exists keeps its token, unless its replacement is asked for', async () => {
  const parent = await register({ org_id: 'acme', team_id: 'core', agent_id: 'above' });
  const child = { orgId: 'acme', teamId: 'core', agentId: 'child' };
  const metadata = { host: 'a1' };
  const more = { parentAgentId: { ...child, agentId: parent.body.agent.agent_id }, name: 'Child', metadata };
  const first = await gateway.register(child, more);
  const body = { org_id: 'acme', team_id: 'core', agent_id: 'child', framework: 'codex' };
  const refused = await register(body);
  expect(refused).toMatchObject({ status: 409, body: { code: 'agent_exists' } });
  expect(await gateway.check(first)).toMatchObject({ decision: 1 });

  const { status, body: made } = await register({ ...body, replace: true });
  expect([status, made.created]).toEqual([201, false]);
  expect(await gateway.check(first)).toMatchObject({ decision: 2, reason: 'credential token mismatch' });
  expect(await gateway.check({ id: child, token: made.token })).toMatchObject({ decision: 1 });
  const { body: agent } = await gateway.api.get<Agent>('/api/v1/agents/acme/core/child', bootstrapKey);
  expect(agent).toMatchObject({ name: 'Child', framework: 'codex', metadata, parent: { agent_id: 'above' } });
});

test('of two at the same time, one agent is made', async () => {
  const all = await Promise.all(Array.from({ length: 6 }, () => register({ agent_id: 'raced' })));
  expect(statusesOf(all)).toEqual([201, 409, 409, 409, 409, 409]);
});

test('a tenant registers within its binding, which is also the default', async () => {
  const bound = await makeKey(gateway, { scopes: ['write'], org_id: 'acme', team_id: 'core' });
  expect((await register({ agent_id: 'bound' }, bound.key)).body.agent).toEqual({ ...wire, agent_id: 'bound' });
  for (const place of [{ org_id: 'globex' }, { team_id: 'other' }, { org_id: '', team_id: '' }]) {
    const refused = await register({ ...place, agent_id: 'laptop' }, bound.key);
    expect(refused).toMatchObject({ status: 403, body: { code: 'tenant_bound' } });
  }
  const reader = await makeKey(gateway, { scopes: ['read'] });
  const refused = await register({ agent_id: 'mine' }, reader.key);
  expect(refused).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } });
});

test('a person registers, too, and the log says who did', async () => {
  const person = new Person(gateway);
  await person.register('ada@example.com');
  const { status } = await register({ agent_id: 'by-a-person' }, person.accessToken);
  expect(status).toBe(201);
  expect(gateway.audit().findLast(({ event_type }) => event_type === 'AgentRegistered')).toMatchObject({
    actor: { kind: 'account' },
  });
});

test.each([
  ['no agent_id', {}, '/agent_id'],
  ['an id that is none', { agent_id: 'a/b' }, '/agent_id'],
  ['a name that is too long', { agent_id: 'x', name: 'n'.repeat(513) }, '/name'],
  ['a framework that is too long', { agent_id: 'x', framework: 'n'.repeat(513) }, '/framework'],
])('%s is refused', async (_what, body, pointer) => {
  expect(await register(body)).toMatchObject({ status: 422, body: { errors: [{ pointer }] } });
});

test('the address for agents is the configured one, or the one that gRPC listens on', async () => {
  expect((await gateway.api.get('/api/v1/connection', bootstrapKey)).body).toEqual({
    grpc_addr: 'agents.example.com:443',
    tls: false,
  });
  expect((await gateway.api.get('/api/v1/connection')).status).toBe(401);
  await using plain = await TestGateway.start();
  const { body } = await plain.api.get('/api/v1/connection', bootstrapKey);
  expect(body).toEqual({ grpc_addr: plain.grpc, tls: false });
});
