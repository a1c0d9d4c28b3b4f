import type { AgentId } from '@reeve/contract';
import { paths, RegisterAgentRequest, RegisterAgentResponse } from '@reeve/contract';
import type { RouteInput, RouteOutput, Routes } from '@reeve/contract/http';
import { expect } from 'vitest';
import type { TestGateway } from './gateway.ts';
import { bootstrapKey } from './gateway.ts';

export type ApiKey = RouteOutput<Routes['revokeApiKey']>;
export type CreatedKey = RouteOutput<Routes['createApiKey']>;
type Grant = Partial<RouteInput<Routes['createApiKey']>['body']>;

/** Makes an API key, unbound and with read scope by default. */
export async function makeKey(gateway: TestGateway, grant: Grant = {}, bearer = bootstrapKey): Promise<CreatedKey> {
  const body = { label: 'a test', scopes: ['read'], ...grant };
  const answer = await gateway.api.post<CreatedKey>('/api/v1/iam/api-keys', bearer, body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

/** Exchanges a key for a token. */
export async function tokenOf(gateway: TestGateway, key: string, ...scopes: string[]): Promise<string> {
  const body = scopes.length === 0 ? undefined : { scopes };
  const answer = await gateway.api.post<RouteOutput<Routes['exchangeToken']>>('/api/v1/auth/token', key, body);
  expect(answer.status, answer.text).toBe(200);
  return answer.body.token;
}

/** Registers an agent over gRPC with a credential other than the bootstrap key. */
export function registerAs(
  gateway: TestGateway,
  bearer: string,
  id: Partial<AgentId> & { agentId: string },
  extra: Partial<RegisterAgentRequest> = {},
) {
  const request: RegisterAgentRequest = {
    agentId: { orgId: 'acme', teamId: 'core', ...id },
    credentialToken: '',
    name: '',
    framework: '',
    version: '',
    parentAgentId: undefined,
    metadata: {},
    toolNames: [],
    ...extra,
  };
  const options = { authorization: `Bearer ${bearer}` };
  return gateway.client.call(paths.registerAgent, RegisterAgentRequest, RegisterAgentResponse, request, options);
}

/**
 * Begins something with a credential that soon ends. On a slow machine its life may be over before everything has begun;
 * then it is begun anew with a longer one.
 */
export async function beginBeforeItEnds<Begun>(begin: (ttlSecs: number) => Promise<Begun>): Promise<Begun> {
  for (let ttlSecs = 2; ; ttlSecs *= 3) {
    try {
      return await begin(ttlSecs);
    } catch (error) {
      if (ttlSecs > 100) throw error;
    }
  }
}
