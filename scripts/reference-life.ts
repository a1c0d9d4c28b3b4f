import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import {
  ActionType,
  CheckActionRequest,
  CheckActionResponse,
  paths,
  RegisterAgentRequest,
  RegisterAgentResponse,
} from '@reeve/contract';
import { GrpcClient } from '../tests/harness/grpc-client.ts';

/* A short life of a gateway, which leaves something of everything that its version stores. */

/** A well-formed key, known only to tests. */
const key = 'rvk_abcdefghijkl_01234567890123456789012345678901234567891ssRG8';
const agentId = { orgId: 'acme', teamId: 'core', agentId: 'a' };
const policy = `name: test
default: allow
rules:
  - { name: no, effect: deny, tools: [rm] }
`;
const more = `
  - { name: ask, effect: require_approval, tools: [pay] }
budget: { daily_limit_usd: 100 }
`;

const registration = {
  credentialToken: '',
  name: 'Ada',
  framework: '',
  version: '',
  parentAgentId: undefined,
  metadata: {},
  toolNames: [],
};

/** What a later version must find again. */
export interface Left {
  readonly key: string;
  readonly revokedKey: string;
  readonly agentToken: string;
  readonly email: string | null;
  readonly password: string;
  readonly pendingApproval: boolean;
  readonly storedPolicy: boolean;
}

/** Runs a gateway of some version, lets it live, and kills it. */
export async function live(reeve: string, data: string, database?: string): Promise<Left> {
  try {
    return await liveWith(reeve, data, `${policy}${more.slice(1)}`, database);
  } catch {
    // The first versions know neither approvals nor budgets.
    return await liveWith(reeve, data, policy, database);
  }
}

async function liveWith(reeve: string, data: string, text: string, database: string | undefined): Promise<Left> {
  mkdirSync(join(data, 'policies'), { recursive: true });
  writeFileSync(join(data, 'policies', 'test.yaml'), text);
  const args = ['serve', '--http', '127.0.0.1:0', '--grpc', '127.0.0.1:0', '--data', data];
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: data,
    SVC_BOOTSTRAP_API_KEY: key,
    ...(database === undefined ? {} : { SVC_DATABASE_URL: database }),
  };
  const child = spawn(reeve, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = once(child, 'close');
  try {
    const lines = createInterface({ input: child.stdout });
    const line = await Promise.race([once(lines, 'line'), closed.then(() => undefined)]);
    if (line === undefined) throw new Error('the gateway did not start');
    const { http, grpc } = JSON.parse(String(line[0])) as { http: string; grpc: string };
    return await leave(http, new GrpcClient(grpc));
  } finally {
    child.kill('SIGKILL');
    await closed;
  }
}

async function leave(http: string, client: GrpcClient): Promise<Left> {
  const bearer = { authorization: `Bearer ${key}` };
  const { credentialToken: agentToken } = await client.call(
    paths.registerAgent,
    RegisterAgentRequest,
    RegisterAgentResponse,
    { ...registration, agentId },
    bearer,
  );
  const check = (toolName: string, spanId: string) =>
    client.call(paths.checkAction, CheckActionRequest, CheckActionResponse, {
      agentId,
      credentialToken: agentToken,
      traceId: 'fixture',
      spanId,
      actionType: ActionType.TOOL_CALL,
      context: {
        action: {
          $case: 'toolCall',
          value: { toolName, toolSource: '', argsJson: Buffer.from('{"a":1}'), targetUrl: '' },
        },
      },
      callerAgentId: undefined,
      estimatedCostMicros: 1_000_000,
      runId: '',
      summary: '',
      canRewrite: false,
    });
  await check('search', 'running');
  await check('rm', 'denied');
  const held = await check('pay', 'held');
  const post = (path: string, body?: object) => call(http, path, 'POST', body);
  const made = await post('/api/v1/iam/api-keys', { label: 'revoked', scopes: ['read'] });
  await post(`/api/v1/iam/api-keys/${String(made?.['id'])}/revoke`);
  const email = 'ada@example.com';
  const password = 'seven quiet lamps';
  const person = await post('/api/v1/auth/register', { email, password });
  await post('/api/v1/agents/acme/core/a/suspend', { reason: 'kept' });
  await post('/api/v1/agents/acme/core/a/resume', { reason: 'kept' });
  const source = 'name: stored\nscope: org:acme\nrules:\n  - { name: no, effect: deny, tools: [wire] }\n';
  const stored = await call(http, '/api/v1/policies/stored', 'PUT', { source });
  client.close();
  return {
    key,
    revokedKey: String(made?.['key']),
    agentToken,
    email: person === undefined ? null : email,
    password,
    pendingApproval: held.approvalId !== '',
    storedPolicy: stored !== undefined,
  };
}

/** The answer; undefined if that version has no such route, or no accounts. */
async function call(
  http: string,
  path: string,
  method: string,
  body?: object,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const response = await fetch(`${http}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (response.status === 404 || text.includes('accounts_unavailable')) return undefined;
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
  return JSON.parse(text) as Readonly<Record<string, unknown>>;
}
