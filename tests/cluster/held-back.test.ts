import { PreviewToolsRequest, PreviewToolsResponse, paths } from '@reeve/contract';
import type { RouteOutput, Routes } from '@reeve/contract/http';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { ControlStream } from '../harness/control-stream.ts';
import { makeKey, registerAs, tokenOf } from '../harness/credentials.ts';
import type { Registered } from '../harness/gateway.ts';
import { allowAll, bootstrapKey, toolCall } from '../harness/gateway.ts';
import { eventually } from '../harness/eventually.ts';
import { Policies } from '../harness/policies.ts';
import { Cluster } from './storm/cluster.ts';
import type { ClusterNode } from './storm/node.ts';

// The second gateway hears nothing by NATS, and does not know that. Whatever it answers rests on what the first one has
// answered all the same. Nothing here waits or tries again.

let cluster: Cluster;
let one: ClusterNode;
let two: ClusterNode;
beforeAll(async () => {
  cluster = await Cluster.start({ size: 2, policies: { 'all.yaml': allowAll } });
  const [first, second] = cluster.nodes;
  if (first === undefined || second === undefined) throw new Error('there are not two gateways');
  [one, two] = [first, second];
  // Reading the first document starts a thread.
  await new Policies(one.gateway).put('warm', 'name: warm\nrules:\n  - { name: no, effect: deny, tools: [nothing] }\n');
  const { policyVersion } = await one.gateway.heartbeat(await one.gateway.register({ agentId: 'first' }));
  await eventually(async () => {
    const agentAtTwo = await two.gateway.register({ agentId: 'second' });
    expect(await two.gateway.heartbeat(agentAtTwo)).toMatchObject({ policyVersion });
  });
}, 120_000);
afterAll(() => cluster[Symbol.asyncDispose]());

let agents = 0;
let agent: Registered;
beforeEach(async () => {
  two.toNats.mend();
  agent = await one.gateway.register({ agentId: `agent-${++agents}` });
  await two.gateway.heartbeat(agent);
  two.toNats.silence();
});

function preview(of: Registered, tools: string[]) {
  return two.gateway.client.call(paths.previewTools, PreviewToolsRequest, PreviewToolsResponse, {
    agentId: of.id,
    credentialToken: of.token,
    toolSource: '',
    toolNames: tools,
  });
}

/** Every call that a token opens. Checks deny what the others refuse. */
const callsByToken: Readonly<Record<string, (of: Registered) => Promise<unknown>>> = {
  heartbeat: (of) => two.gateway.heartbeat(of),
  identify: (of) => two.gateway.identify(of.token),
  preview: (of) => preview(of, ['shell']),
  subscribe: async (of) => {
    const stream = new ControlStream(two.gateway.client, of);
    const opened = await Promise.race([stream.accepted.then(() => undefined), stream.ended]);
    if (opened !== undefined) throw Object.assign(new Error(opened.details), opened);
  },
  complete: (of) => two.gateway.complete(of, 'some:op'),
  deregister: (of) => two.gateway.deregister(of),
};

test.each(Object.keys(callsByToken))('a token that was replaced opens nothing any more: %s', async (name) => {
  await one.gateway.register({ agentId: agent.id.agentId });
  await expect(callsByToken[name]?.(agent)).rejects.toMatchObject({ code: 16 });
  expect(await two.gateway.check(agent)).toMatchObject({ decision: 2, policyRule: 'identity' });
});

test.each(['heartbeat', 'identify', 'preview', 'subscribe'])(
  'a token that is new opens what it should: %s',
  async (name) => {
    const renewed = await one.gateway.register({ agentId: agent.id.agentId });
    await callsByToken[name]?.(renewed);
  },
);

test('an agent hears that it is suspended, and that it is not any more', async () => {
  const path = `/api/v1/agents/acme/core/${agent.id.agentId}`;
  for (const suspended of [true, false, true]) {
    await one.gateway.api.post(`${path}/${suspended ? 'suspend' : 'resume'}`, bootstrapKey, { reason: 'odd' });
    expect(await two.gateway.heartbeat(agent)).toMatchObject({ suspended });
    expect(await two.gateway.identify(agent.token)).toMatchObject({ suspended });
    const shown = await two.gateway.api.get<{ status: string }>(path, bootstrapKey);
    expect(shown.body.status === 'suspended').toBe(suspended);
  }
});

test('a preview and a heartbeat know the policies in force', async () => {
  const policies = new Policies(one.gateway);
  for (let round = 0; round < 3; round++) {
    const tool = `tool-${round}`;
    await policies.put('extra', `name: extra\nrules:\n  - { name: no, effect: deny, tools: [${tool}] }\n`);
    expect(await preview(agent, [tool, 'other'])).toMatchObject({ denied: [tool] });
    const { policyVersion } = await one.gateway.heartbeat(agent);
    expect(await two.gateway.heartbeat(agent)).toMatchObject({ policyVersion });
  }
  await policies.delete('extra');
});

test('a revoked key, and a token made from it, open no route, no stream and no registration', async () => {
  const { key, id } = await makeKey(one.gateway, { scopes: ['read', 'write'] });
  const token = await tokenOf(one.gateway, key);
  const ticket = await one.gateway.api.post<{ ticket: string }>('/api/v1/auth/ws-ticket', key);
  expect((await one.gateway.api.post(`/api/v1/iam/api-keys/${id}/revoke`, bootstrapKey)).status).toBe(200);
  for (const bearer of [key, token]) {
    for (const path of ['/api/v1/auth/me', '/api/v1/events', '/api/v1/agents', '/api/v1/logs']) {
      expect((await two.gateway.api.get(path, bearer)).status, path).toBe(401);
    }
    await expect(registerAs(two.gateway, bearer, { agentId: 'late' })).rejects.toMatchObject({ code: 16 });
  }
  expect((await two.gateway.api.post('/api/v1/auth/token', key)).status).toBe(401);
  expect((await two.gateway.api.get(`/api/v1/events?ticket=${ticket.body.ticket}`)).status).toBe(401);
});

test('a new key that signs is published, and what it has signed is valid', async () => {
  const rotated = await one.gateway.api.post<{ kid: string }>('/api/v1/iam/signing-keys/rotate', bootstrapKey);
  const { body } = await two.gateway.api.get<RouteOutput<Routes['jwks']>>('/.well-known/jwks.json');
  expect(body.keys.map(({ kid }) => kid)).toContain(rotated.body.kid);
  const token = await tokenOf(one.gateway, bootstrapKey);
  expect((await two.gateway.api.get('/api/v1/auth/me', token)).status).toBe(200);
});

test('a decision is explained by what the other gateway has decided', async () => {
  await one.gateway.check(agent, { traceId: `explained-${agents}`, spanId: 's', context: toolCall('shell') });
  const found = await two.gateway.api.get<{ state: string }>(`/api/v1/ops/explained-${agents}:s`, bootstrapKey);
  expect(found.body).toMatchObject({ state: 'running' });
  const explained = await two.gateway.api.get(`/api/v1/decisions/explained-${agents}:s/explain`, bootstrapKey);
  expect(explained.status, explained.text).toBe(200);
});
