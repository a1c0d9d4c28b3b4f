import { AckOpControlRequest, AckOpControlResponse, paths } from '@reeve/contract';
import { ReportToolDefinitionsRequest, ReportToolDefinitionsResponse } from '@reeve/contract';
import type { Route, RouteName, RouteOutput, Routes } from '@reeve/contract/http';
import { routes } from '@reeve/contract/http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeKey, registerAs, tokenOf } from '../harness/credentials.ts';
import type { Registered } from '../harness/gateway.ts';
import { bootstrapKey, toolCall } from '../harness/gateway.ts';
import { LateRequest } from '../harness/late-request.ts';
import { password, Person } from '../harness/person.ts';
import { Cluster } from './storm/cluster.ts';
import type { ClusterNode } from './storm/node.ts';

// The links of one gateway are silent between the check of a credential and the write. Meanwhile the credential ends,
// at the other gateway, which says so. After that, nothing is written for it any more.

const policy = `
name: p
default: allow
rules:
  - { name: ask, effect: require_approval, tools: [shell] }
  - { name: mail, effect: allow, tools: [read-mail], labels: [mail] }
`;

let cluster: Cluster;
let one: ClusterNode;
let two: ClusterNode;
let owner: Person;
beforeAll(async () => {
  cluster = await Cluster.start({ size: 2, policies: { 'p.yaml': policy } });
  const [first, second] = cluster.nodes;
  if (first === undefined || second === undefined) throw new Error('there are not two gateways');
  [one, two] = [first, second];
  owner = new Person(one.gateway);
  expect((await owner.register('owner@example.com')).status).toBe(201);
}, 120_000);
afterAll(() => cluster[Symbol.asyncDispose]());

/** Whatever the gateway had received before is done, as far as it can be without its links. */
async function settled(node: ClusterNode): Promise<void> {
  for (let round = 0; round < 20; round++) expect((await fetch(`${node.http}/healthz`)).status).toBe(200);
}

/** Whatever came before at the gateway was authenticated. */
async function authenticated(node: ClusterNode): Promise<void> {
  for (let round = 0; round < 10; round++) {
    expect((await node.gateway.api.get('/api/v1/auth/me', bootstrapKey)).status).toBe(200);
  }
}

/** Ends something at the first gateway while the links of the second one are silent, and lets `act` happen before they are back. */
async function whileSilent(end: () => Promise<void>, act: () => void): Promise<void> {
  two.toPostgres.silence();
  two.toNats.silence();
  try {
    await end();
    act();
    await settled(two);
  } finally {
    two.toNats.mend();
    two.toPostgres.mend();
  }
}

type Entries = RouteOutput<Routes['listLogs']>['items'];

/** The newest entries of the log, the newest first. */
async function log(): Promise<Entries> {
  const { body } = await one.gateway.api.get<RouteOutput<Routes['listLogs']>>(
    '/api/v1/logs?per_page=100',
    bootstrapKey,
  );
  return body.items;
}

/** What somebody did after their end was recorded. */
async function doneAfter(isEnd: (entry: Entries[number]) => boolean, actorId: string): Promise<string[]> {
  const entries = await log();
  const end = entries.findIndex(isEnd);
  expect(end).toBeGreaterThanOrEqual(0);
  return entries.slice(0, end).flatMap(({ actor, event_type: type }) => (actor.id === actorId ? [type] : []));
}

async function begin(bearer: string, name: RouteName, path: string, json?: unknown): Promise<LateRequest> {
  return await LateRequest.begin(two.http, { method: routes[name].method, path }, bearer, json);
}

const newKey = { label: 'made late', scopes: ['read', 'write', 'admin'] };

describe('whoever ends: its request makes no key', () => {
  interface Ending {
    readonly bearer: string;
    readonly actorId: string;
    readonly end: () => Promise<void>;
    readonly endType: string;
    readonly body?: object;
  }

  const revoke = (id: string) => async () => {
    const answer = await one.gateway.api.post(`/api/v1/iam/api-keys/${id}/revoke`, bootstrapKey);
    expect(answer.status, answer.text).toBe(200);
  };

  const change = (id: string, members: object) => async () => {
    const answer = await owner.call('PATCH', `/api/v1/accounts/${id}`, members);
    expect(answer.status, answer.text).toBe(200);
  };

  async function admin(email: string): Promise<{ readonly person: Person; readonly id: string }> {
    const invite = await owner.call<{ token: string }>('POST', '/api/v1/auth/invite', { email, role: 'admin' });
    const person = new Person(one.gateway);
    const { body } = await person.accept(invite.body.token);
    return { person, id: body.account.id };
  }

  const endings: Readonly<Record<string, () => Promise<Ending>>> = {
    'a key that is revoked': async () => {
      const { key, id } = await makeKey(one.gateway, { scopes: ['admin'] });
      return { bearer: key, actorId: id, end: revoke(id), endType: 'ApiKeyRevoked' };
    },
    'a key of an org that is revoked': async () => {
      const { key, id } = await makeKey(one.gateway, { scopes: ['admin'], org_id: 'acme' });
      return { bearer: key, actorId: id, end: revoke(id), endType: 'ApiKeyRevoked' };
    },
    'a token made from a key that is revoked': async () => {
      const { key, id } = await makeKey(one.gateway, { scopes: ['admin'] });
      const bearer = await tokenOf(one.gateway, key);
      return { bearer, actorId: id, end: revoke(id), endType: 'ApiKeyRevoked' };
    },
    'an account that is disabled': async () => {
      const { person, id } = await admin('disabled@example.com');
      const end = change(id, { status: 'disabled' });
      return { bearer: person.accessToken ?? '', actorId: id, end, endType: 'AccountChanged' };
    },
    'an account that is no admin any more': async () => {
      const { person, id } = await admin('demoted@example.com');
      const end = change(id, { role: 'viewer' });
      return { bearer: person.accessToken ?? '', actorId: id, end, endType: 'AccountChanged' };
    },
    'a session that is over': async () => {
      const { person, id } = await admin('gone@example.com');
      const end = async () => {
        expect((await person.logOut()).status).toBe(204);
      };
      return { bearer: person.accessToken ?? '', actorId: id, end, endType: 'SessionEnded' };
    },
    'sessions that a new password ends': async () => {
      const { person, id } = await admin('renewed@example.com');
      const bearer = person.accessToken ?? '';
      const end = async () => {
        const body = { current_password: password, password: 'nine loud lamps there' };
        expect((await person.call('POST', '/api/v1/auth/password', body)).status).toBe(204);
      };
      return { bearer, actorId: id, end, endType: 'PasswordChanged' };
    },
    'a key of an account that is disabled': async () => {
      const { person, id } = await admin('maker@example.com');
      const { key, id: keyId } = await makeKey(one.gateway, { scopes: ['admin'] }, person.accessToken);
      return { bearer: key, actorId: keyId, end: change(id, { status: 'disabled' }), endType: 'AccountChanged' };
    },
    'a key of an account that is no admin any more': async () => {
      const { person, id } = await admin('lesser@example.com');
      const { key, id: keyId } = await makeKey(one.gateway, { scopes: ['admin'] }, person.accessToken);
      return { bearer: key, actorId: keyId, end: change(id, { role: 'viewer' }), endType: 'AccountChanged' };
    },
  };

  test.each(Object.keys(endings))(
    '%s',
    async (name) => {
      const ending = await endings[name]?.();
      if (ending === undefined) throw new Error('there is no such end');
      const request = await begin(ending.bearer, 'createApiKey', '/api/v1/iam/api-keys', newKey);
      const invite = await begin(ending.bearer, 'createInvite', '/api/v1/auth/invite', {
        email: `by.${ending.actorId}@example.com`,
      });
      await authenticated(two);
      await whileSilent(ending.end, () => {
        request.complete();
        invite.complete();
      });
      const { status, text } = await request.answer;
      expect({ status, text }).toMatchObject({ status: 401 });
      // A credential that is bound to an org invites nobody anyway.
      expect([401, 403]).toContain((await invite.answer).status);
      expect(await doneAfter(({ event_type: type }) => type === ending.endType, ending.actorId)).toEqual([]);
      expect((await one.gateway.api.get('/api/v1/auth/me', bootstrapKey)).status).toBe(200);
    },
    60_000,
  );
});

/** The routes that a credential opens and that are no mere reads. */
type WriteRoute = {
  [Name in RouteName]: Routes[Name] extends { method: 'GET' } | { access: 'public' } ? never : Name;
}[RouteName];

/** What a revoked key would do by each route. */
interface Late {
  readonly path?: Readonly<Record<string, string>>;
  readonly json?: unknown;
}

const changesNothing = 'changes nothing';
const isForPeople = 'is for people, not for keys';
const isElsewhere = 'does nothing on PostgreSQL';

test('a revoked key does nothing by any route', async () => {
  const { gateway } = one;
  const agent = await gateway.register({ agentId: 'worker' });
  const suspended = await gateway.register({ agentId: 'suspended' });
  await gateway.api.post('/api/v1/agents/acme/core/suspended/suspend', bootstrapKey, { reason: 'odd' });
  for (const traceId of ['pause', 'resume', 'terminate', 'complete', 'scope']) {
    await gateway.check(agent, { traceId, spanId: 's' });
  }
  await gateway.check(agent, { traceId: 'label', spanId: 's', runId: 'labelled', context: toolCall('read-mail') });
  await gateway.api.post('/api/v1/ops/resume:s/pause', bootstrapKey, {});
  const approvalOf = async (traceId: string) =>
    (await gateway.check(agent, { traceId, spanId: 's', context: toolCall('shell', { cmd: traceId }) })).approvalId;
  const [approved, rejected, granted] = [
    await approvalOf('approve'),
    await approvalOf('reject'),
    await approvalOf('grant'),
  ];
  const grant = await gateway.api.post<{ grant_id: string }>(`/api/v1/approvals/${granted}/approve`, bootstrapKey, {
    grant: { reach: 'until', until: new Date(Date.now() + 600_000).toISOString() },
  });
  expect(grant.status, grant.text).toBe(200);
  const text = 'name: late\nrules:\n  - { name: no, effect: deny, tools: [nothing] }\n';
  for (const name of ['late-put', 'late-delete', 'late-rollback']) {
    for (let version = 0; version < 2; version++) {
      const source = text.replace('name: late', `name: ${name}`).replace('nothing', `nothing-${version}`);
      const answer = await gateway.api.send('PUT', `/api/v1/policies/${name}`, {
        bearer: bootstrapKey,
        json: { source },
      });
      expect(answer.status, answer.text).toBe(200);
    }
  }
  await gateway.register({ orgId: 'held', agentId: 'bot' });
  const hold = { org_id: 'held', action: 'pause', reason: 'an incident' };
  const held = await gateway.api.post<{ id: string }>('/api/v1/suspensions', bootstrapKey, hold);
  expect(held.status, held.text).toBe(201);
  const invite = async (email: string) =>
    (await owner.call<{ invite: { id: string } }>('POST', '/api/v1/auth/invite', { email })).body.invite.id;
  const [toRevoke, toResend] = [await invite('revoke@example.com'), await invite('resend@example.com')];
  const victims = [await makeKey(gateway), await makeKey(gateway), await makeKey(gateway)];
  const someone = new Person(gateway);
  const accepted = await someone.accept(
    (await owner.call<{ token: string }>('POST', '/api/v1/auth/invite', { email: 'someone@example.com' })).body.token,
  );
  const { key, id } = await makeKey(gateway, { scopes: ['read', 'write', 'admin'] });
  const place = { org: 'acme', team: 'core' };
  const lates: Readonly<Record<WriteRoute, Late | string>> = {
    exchangeToken: {},
    wsTicket: changesNothing,
    createApiKey: { json: newKey },
    rotateApiKey: { path: { id: victims[0]?.id ?? '' } },
    revokeApiKey: { path: { id: victims[1]?.id ?? '' } },
    revokeApiKeyUnversioned: { path: { id: victims[2]?.id ?? '' } },
    rotateSigningKey: {},
    createInvite: { json: { email: 'late@example.com' } },
    revokeInvite: { path: { id: toRevoke } },
    resendInvite: { path: { id: toResend } },
    changePassword: isForPeople,
    revokeSession: isForPeople,
    makeCliCode: isForPeople,
    changeAccount: { path: { id: accepted.body.account.id }, json: { role: 'admin' } },
    approve: { path: { id: approved } },
    reject: { path: { id: rejected } },
    revokeGrant: { path: { id: grant.body.grant_id } },
    putPolicy: { path: { name: 'late-put' }, json: { source: text.replace('name: late', 'name: late-put') } },
    deletePolicy: { path: { name: 'late-delete' } },
    rollbackPolicy: { path: { name: 'late-rollback' }, json: { version: 1 } },
    validatePolicy: changesNothing,
    testPolicies: changesNothing,
    simulatePolicy: changesNothing,
    backtestPolicy: changesNothing,
    correctBudget: { json: { org_id: 'acme', amount_usd: '1.00', reason: 'late' } },
    createBackup: isElsewhere,
    registerAgent: { json: { org_id: 'acme', team_id: 'core', agent_id: 'late' } },
    suspendAgent: { path: { ...place, agent: 'worker' }, json: { reason: 'late' } },
    revokeDelegation: { path: { ...place, agent: 'worker' }, json: { reason: 'late' } },
    resumeAgent: { path: { ...place, agent: suspended.id.agentId } },
    registerOp: {
      json: { agent: { org_id: 'acme', team_id: 'core', agent_id: 'worker' }, trace_id: 'late', span_id: 's' },
    },
    pauseOp: { path: { id: 'pause:s' } },
    resumeOp: { path: { id: 'resume:s' } },
    terminateOp: { path: { id: 'terminate:s' } },
    completeOp: { path: { id: 'complete:s' } },
    clearRunLabels: { json: { org_id: 'acme', team_id: 'core', run_id: 'labelled', reason: 'late' } },
    controlScope: { json: { action: 'terminate', scope: { agent_id: 'worker' }, reason: 'late' } },
    suspendScope: { json: { org_id: 'acme', action: 'terminate', reason: 'late' } },
    liftSuspension: { path: { id: held.body.id } },
  };
  const requests = new Map<string, LateRequest>();
  for (const [name, late] of Object.entries(lates)) {
    if (typeof late === 'string') continue;
    const route: Route = routes[name as WriteRoute];
    const path = route.path.replaceAll(/\{(\w+)\}/g, (_, member: string) => late.path?.[member] ?? '');
    requests.set(name, await begin(key, name as WriteRoute, path, late.json));
  }
  await authenticated(two);
  await whileSilent(
    async () => {
      expect((await gateway.api.post(`/api/v1/iam/api-keys/${id}/revoke`, bootstrapKey)).status).toBe(200);
    },
    () => {
      for (const request of requests.values()) request.complete();
    },
  );
  const statuses: Record<string, number> = {};
  for (const [name, request] of requests) statuses[name] = (await request.answer).status;
  expect(statuses).toEqual(Object.fromEntries([...requests.keys()].map((name) => [name, 401])));
  const isEnd = (entry: Entries[number]) =>
    entry.event_type === 'ApiKeyRevoked' && JSON.stringify(entry).includes(id) && entry.actor.id !== id;
  expect(await doneAfter(isEnd, id)).toEqual([]);
  // What it would have changed is as it was.
  expect((await gateway.check(agent, { traceId: 'after', spanId: 's' })).decision).toBe(1);
  expect(cluster.surprises).toEqual([]);
}, 120_000);

test('a revoked key registers no agent over gRPC', async () => {
  const { key, id } = await makeKey(one.gateway, { scopes: ['write'], org_id: 'acme' });
  await registerAs(two.gateway, key, { agentId: 'before' });
  let registering: Promise<unknown> = Promise.resolve();
  await whileSilent(
    async () => {
      expect((await one.gateway.api.post(`/api/v1/iam/api-keys/${id}/revoke`, bootstrapKey)).status).toBe(200);
    },
    () => {
      registering = registerAs(two.gateway, key, { agentId: 'after' }).catch((error: unknown) => error);
    },
  );
  expect(await registering).toMatchObject({ code: 16 });
  expect((await one.gateway.api.get('/api/v1/agents/acme/core/after', bootstrapKey)).status).toBe(404);
}, 60_000);

test('a replaced token of an agent reports nothing any more', async () => {
  const agent = await one.gateway.register({ agentId: 'replaced' });
  await two.gateway.check(agent, { traceId: 'replaced', spanId: 's' });
  const { client } = two.gateway;
  const by = { agentId: agent.id, credentialToken: agent.token };
  const calls: Readonly<Record<string, () => Promise<unknown>>> = {
    complete: () => two.gateway.complete(agent, 'replaced:s'),
    report: () =>
      client.call(paths.reportToolDefinitions, ReportToolDefinitionsRequest, ReportToolDefinitionsResponse, {
        ...by,
        toolSource: 'files',
        changed: [{ toolName: 'read', lockedSha256: 'a'.repeat(64), actualSha256: 'b'.repeat(64) }],
      }),
    acknowledge: () =>
      client.call(paths.ackOpControl, AckOpControlRequest, AckOpControlResponse, {
        ...by,
        sequence: 1,
        outcome: 2,
        detail: '',
      }),
    deregister: () => two.gateway.deregister(agent),
  };
  await one.gateway.api.post('/api/v1/ops/replaced:s/pause', bootstrapKey, {});
  await authenticated(two);
  let answers: Promise<unknown[]> = Promise.resolve([]);
  let now: Registered | undefined;
  await whileSilent(
    async () => {
      now = await one.gateway.register({ agentId: 'replaced' });
    },
    () => {
      answers = Promise.all(Object.values(calls).map((call) => call().catch((error: unknown) => error)));
    },
  );
  for (const answer of await answers) expect(answer).toMatchObject({ code: 16 });
  if (now === undefined) throw new Error('it was not registered again');
  expect(await two.gateway.heartbeat(now)).toMatchObject({ suspended: false });
  const isEnd = (entry: Entries[number]) =>
    entry.event_type === 'AgentRegistered' && entry.lineage.agent_id === 'replaced';
  expect(await doneAfter(isEnd, 'acme/core/replaced')).toEqual([]);
}, 60_000);

test('what cannot catch up with the others answers nobody', async () => {
  const { key } = await makeKey(one.gateway, { scopes: ['admin'] });
  two.toPostgres.silence();
  two.toNats.silence();
  try {
    const [made, read, registered] = await Promise.all([
      two.gateway.api.post('/api/v1/iam/api-keys', key, newKey),
      two.gateway.api.get('/api/v1/agents', key),
      registerAs(two.gateway, key, { agentId: 'unheard' }).catch((error: unknown) => error),
    ]);
    expect([made.status, read.status]).toEqual([503, 503]);
    expect(registered).toMatchObject({ code: 14 });
  } finally {
    two.toNats.mend();
    two.toPostgres.mend();
  }
}, 60_000);
