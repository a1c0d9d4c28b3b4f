import type { ServiceError } from '@grpc/grpc-js';
import { paths, RegisterAgentRequest, RegisterAgentResponse } from '@reeve/contract';
import type { Problem } from '@reeve/contract/http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeKey, tokenOf } from '../harness/credentials.ts';
import { bootstrapKey, TestGateway } from '../harness/gateway.ts';

const exhausted = 8;

describe('the agents of an org', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await TestGateway.start({ env: { SVC_MAX_AGENTS_PER_ORG: '3', SVC_MAX_AGENT_MIB_PER_ORG: '1' } });
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  test('are as many as the setting says, over both ports, and one that leaves makes room', async () => {
    const agents = [];
    for (const agentId of ['a', 'b', 'c']) agents.push(await gateway.register({ orgId: 'many', agentId }));
    const refused = gateway.register({ orgId: 'many', agentId: 'd' });
    await expect(refused).rejects.toMatchObject({
      code: exhausted,
      details: expect.stringContaining('SVC_MAX_AGENTS_PER_ORG') as string,
    });
    const over = await gateway.api.post<Problem>('/api/v1/agents', bootstrapKey, {
      agent_id: 'd',
      org_id: 'many',
      team_id: 'core',
    });
    expect([over.status, over.body.code]).toEqual([409, 'too_many_agents']);
    await gateway.register({ orgId: 'others', agentId: 'd' });
    await gateway.register({ orgId: 'many', agentId: 'a' });
    const [, second] = agents;
    if (second !== undefined) await gateway.deregister(second);
    await gateway.register({ orgId: 'many', agentId: 'd' });
  });

  test('have as much metadata and as many tools together as the setting says, also after a restart', async () => {
    const metadata = Object.fromEntries(Array.from({ length: 64 }, (_, at) => [`key-${at}`, 'x'.repeat(1000)]));
    const toolNames = Array.from({ length: 1000 }, (_, at) => `t${at}`.padEnd(50, '-'));
    const large = { metadata, toolNames };
    for (let turn = 0; turn < 8; turn++) await gateway.register({ orgId: 'large', agentId: 'a' }, large);
    await gateway.register({ orgId: 'large', agentId: 'a' });
    const filled = await TestGateway.start({ env: { SVC_MAX_AGENT_MIB_PER_ORG: '1' } });
    let refusal: unknown;
    for (let at = 0; at < 12 && refusal === undefined; at++) {
      refusal = await filled.register({ orgId: 'large', agentId: `a${at}` }, large).then(
        () => undefined,
        (error: unknown) => error,
      );
    }
    expect(refusal).toMatchObject({
      code: exhausted,
      details: expect.stringContaining('SVC_MAX_AGENT_MIB_PER_ORG') as string,
    });
    const path = '/api/v1/agents/large/core/a0';
    const shown = await filled.api.get<{ metadata: object; tool_names: string[] }>(path, bootstrapKey);
    await using again = await filled.restart('SIGTERM', { env: { SVC_MAX_AGENTS_PER_ORG: '1' } });
    const back = await again.api.get<{ metadata: object; tool_names: string[] }>(path, bootstrapKey);
    expect([back.status, back.body.metadata, back.body.tool_names]).toEqual([200, metadata, toolNames]);
    expect(shown.body.tool_names).toEqual(toolNames);
    await again.register({ orgId: 'large', agentId: 'a0' }, large);
    await expect(again.register({ orgId: 'large', agentId: 'new' })).rejects.toMatchObject({ code: exhausted });
  });
});

test('a credential has one limit for both ports, and hears over gRPC when to try again', async () => {
  await using gateway = await TestGateway.start({ env: { SVC_RATE_LIMIT_API_PER_MIN: '4' } });
  const { key } = await makeKey(gateway, { scopes: ['read', 'write'] });
  const token = await tokenOf(gateway, key);
  const register = (bearer: string) => {
    const agentId = { orgId: 'acme', teamId: '', agentId: 'bot' };
    const request = { ...RegisterAgentRequest.decode(new Uint8Array()), agentId };
    const authorization = `Bearer ${bearer}`;
    return gateway.client.call(paths.registerAgent, RegisterAgentRequest, RegisterAgentResponse, request, {
      authorization,
    });
  };
  for (const bearer of [key, token]) await register(bearer);
  expect((await gateway.api.get('/api/v1/auth/me', token)).status).toBe(200);
  const refusal = (await register(token).catch((error: unknown) => error)) as ServiceError;
  expect(refusal).toMatchObject({
    code: exhausted,
    details: expect.stringMatching(/try again in \d+ seconds/) as string,
  });
  expect(Number(refusal.metadata.get('grpc-retry-pushback-ms')[0])).toBeGreaterThanOrEqual(1000);
  expect((await gateway.api.get('/api/v1/auth/me', key)).status).toBe(429);
  const { text } = await gateway.api.get('/metrics');
  expect(text).toMatch(/^reeve_rate_limited_total\{limit="api"\} 2$/m);
});
