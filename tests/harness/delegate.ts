import { DelegateAgentRequest, DelegateAgentResponse, paths } from '@reeve/contract';
import type { Registered, TestGateway } from './gateway.ts';

type Terms = Partial<Omit<DelegateAgentRequest, 'agentId' | 'credentialToken' | 'childId'>>;

/** Lets an agent delegate for ten minutes, without limits unless the terms have some. */
export async function delegate(
  gateway: TestGateway,
  by: Registered,
  childId: string,
  terms: Terms = {},
): Promise<Registered & { readonly expiresAt: string }> {
  const request = {
    agentId: by.id,
    credentialToken: by.token,
    childId,
    ttlSecs: 600,
    actions: [],
    tools: [],
    name: '',
  };
  const message = { maxCostMicros: undefined, maxChecks: undefined, maxDelegates: undefined, ...request, ...terms };
  const answer = gateway.client.call(paths.delegateAgent, DelegateAgentRequest, DelegateAgentResponse, message);
  const { agentId: id, credentialToken: token, expiresAt } = await answer;
  if (id === undefined) throw new Error('the answer names no agent');
  return { id, token, expiresAt };
}
