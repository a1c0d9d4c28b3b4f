import type { ApiKeyRecord } from '../access/api-key.ts';
import type { Principal } from '../access/principal.ts';
import { usualMostActionMicros } from '../kernel/money.ts';
import type { Action } from '../action/action.ts';
import { action } from '../action/action.ts';
import type { CheckRequest, RawCheckRequest } from '../action/check-request.ts';
import { parseCheckRequest } from '../action/check-request.ts';
import type { AgentId } from '../kernel/ids.ts';
import type { RegisterRequest } from '../tenancy/register-agent.ts';

/** `acme/search/bot` as a triple; empty parts stay empty. */
export function agentId(text: string): AgentId {
  const [orgId = '', teamId = '', agent = ''] = text.split('/');
  return { orgId, teamId, agentId: agent };
}

/** The key of the operator. Every governance of a test knows it. */
export const operatorKey: ApiKeyRecord = {
  id: 'abcdefghijkl',
  hash: '',
  label: 'operator',
  scopes: ['admin'],
  orgId: null,
  teamId: null,
  createdAt: 0,
  expiresAt: null,
  lastUsedAt: null,
  revokedAt: null,
  madeBy: null,
  rotatedFrom: null,
};

export const operator: Principal = {
  actor: { id: 'abcdefghijkl', kind: 'api_key', label: 'operator' },
  credentialId: 'abcdefghijkl',
  expiresAt: null,
  asOf: 0,
  scopes: ['admin'],
  orgId: null,
  teamId: null,
};

export function registration(
  of: AgentId,
  members: Partial<Omit<RegisterRequest, 'by'>> = {},
): Omit<RegisterRequest, 'by'> {
  return {
    agentId: of,
    token: '',
    name: of.agentId,
    framework: '',
    version: '',
    parent: undefined,
    metadata: {},
    toolNames: [],
    ...members,
  };
}

export function rawCheck(members: Partial<RawCheckRequest> = {}): RawCheckRequest {
  return {
    agentId: agentId('acme/search/bot'),
    token: '',
    traceId: '',
    spanId: '',
    action: useTool('search'),
    caller: null,
    estimatedCostMicros: null,
    runId: '',
    summary: '',
    inexact: new Set(),
    ...members,
  };
}

export function checkOf(
  members: Partial<RawCheckRequest> = {},
  mostActionMicros = usualMostActionMicros,
): CheckRequest {
  return parseCheckRequest(rawCheck(members), mostActionMicros);
}

export function useTool(tool: string, args?: unknown): Action {
  return action('tool_call', { tool, json: args === undefined ? '' : JSON.stringify(args) });
}
