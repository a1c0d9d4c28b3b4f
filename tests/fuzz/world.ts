import { DelegateAgentRequest, DelegateAgentResponse, paths } from '@reeve/contract';
import type { ApiDocument } from './document.ts';
import { readDocument } from './document.ts';
import type { Registered } from '../harness/gateway.ts';
import { allowAll, bootstrapKey, TestGateway } from '../harness/gateway.ts';
import { eventually } from '../harness/eventually.ts';
import { password, Person } from '../harness/person.ts';

/** The rights of a credential. The gateway must refuse `bad` ones before anything else. */
export interface FuzzCredential {
  readonly authorization: string | undefined;
  readonly level: 'bad' | 'read' | 'write' | 'admin';
  readonly isKey: boolean;
  readonly isBound: boolean;
}

/** A gateway with data, as a target for arbitrary calls. */
export interface World {
  readonly gateway: TestGateway;
  readonly document: ApiDocument;
  readonly credentials: Readonly<Record<string, FuzzCredential>>;
  /** Meaningful values, by the name of the parameter. */
  readonly known: Readonly<Record<string, readonly string[]>>;
  /** An agent that no case names. */
  readonly sentinel: Registered;
}

const noLimits = {
  SVC_RATE_LIMIT_AUTH_PER_MIN: '0',
  SVC_RATE_LIMIT_PUBLIC_PER_MIN: '0',
  SVC_RATE_LIMIT_API_PER_MIN: '0',
};

/** Random calls would soon be locked out, and could not register. */
const openDoors = { SVC_LOCKOUT_ATTEMPTS: '1000', SVC_AUTH_OPEN_REGISTRATION: 'true' };

interface Grant {
  readonly scopes: readonly string[];
  readonly org_id?: string;
  readonly team_id?: string;
  readonly ttl_secs?: number;
}

export async function makeWorld(spareKeys: number): Promise<World> {
  const gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll }, env: { ...noLimits, ...openDoors } });
  const [bot] = await registerAll(gateway);
  const sentinel = await gateway.register({ orgId: 'sentinel-org', teamId: 'sentinel', agentId: 'sentinel' });
  const { opIds, controlIds } = await makeOps(gateway, [bot, sentinel]);
  const approvals = await makeApprovals(gateway);
  const people = await makePeople(gateway);
  const policyNames = await makePolicies(gateway);
  const suspensionIds = await makeSuspensions(gateway);
  const spares: string[] = [];
  for (let i = 0; i < spareKeys; i++) spares.push((await makeKey(gateway, spareGrant(i))).id);
  return {
    gateway,
    document: await readDocument(gateway.http),
    credentials: await makeCredentials(gateway),
    known: {
      org: ['acme', 'globex', '-'],
      org_id: ['acme', 'globex'],
      team: ['core', 'ops', '-'],
      team_id: ['core', 'ops'],
      agent: ['bot', 'kid', 'delegate'],
      agent_id: ['bot', 'kid'],
      'api-keys id': spares,
      'ops id': opIds,
      'decisions id': opIds,
      action_type: ['tool_call', 'LLM_CALL', 'network_call'],
      cases: [
        'cases: [{case: a, agent: acme/core/bot, action: {type: tool_call, tool: search}, decision: allow}]',
        'cases: []',
      ],
      candidate: ['name: c\ndefault: allow\n', 'name: c\nscope: org:acme\nrules: [{effect: deny, tools: [search]}]\n'],
      'control id': controlIds,
      'suspensions id': suspensionIds,
      'policies name': policyNames,
      ...approvals,
      until: [new Date(Date.now() + 86_400_000).toISOString()],
      source: ['rules: []\n', 'scope: org:acme\nrules: [{effect: allow, tools: [search]}]\n', 'scope: team:acme/core'],
      ...people,
      run_id: ['run'],
      trace_id: ['trace-0', ''],
      span_id: ['span', ''],
      'idempotency-key': ['a-key', 'another'],
      op_id: opIds.slice(0, 1),
      event_type: ['ActionAllowed', 'AgentRegistered', 'A2AImpersonationAttempted'],
      q: ['bot', 'acme'],
      cursor: [
        Buffer.from('v1:1700000000000:inv_x').toString('base64url'),
        Buffer.from('v1:3').toString('base64url'),
        Buffer.from('v1:999999999999999').toString('base64url'),
      ],
    },
    sentinel,
  };
}

/** A parent, a child and a delegate in every org and team of the cases, so that most combinations of names exist. */
async function registerAll(gateway: TestGateway): Promise<Registered[]> {
  const parents: Registered[] = [];
  for (const orgId of ['acme', 'globex', '']) {
    for (const teamId of ['core', 'ops', '']) {
      const bot = await gateway.register({ orgId, teamId, agentId: 'bot' }, { name: 'Bot' });
      await gateway.register({ orgId, teamId, agentId: 'kid' }, { parentAgentId: bot.id });
      await delegate(gateway, bot);
      parents.push(bot);
    }
  }
  return parents;
}

async function delegate({ client }: TestGateway, { id: agentId, token }: Registered): Promise<void> {
  const terms = { ttlSecs: 86_400, actions: [], tools: [], name: '', maxCostMicros: undefined, maxChecks: undefined };
  const request = { ...terms, agentId, credentialToken: token, childId: 'delegate' };
  await client.call(paths.delegateAgent, DelegateAgentRequest, DelegateAgentResponse, request);
}

/** Suspensions of teams that no case names. */
async function makeSuspensions(gateway: TestGateway): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < 12; i++) {
    const json = { org_id: 'held-org', team_id: `held-${i}`, action: 'pause', reason: 'fuzz' };
    await gateway.register({ orgId: json.org_id, teamId: json.team_id, agentId: 'held' });
    ids.push((await gateway.api.post<{ id: string }>('/api/v1/suspensions', bootstrapKey, json)).body.id);
  }
  return ids;
}

/** A case may suspend everything. Then nobody gets an answer but this one. */
export async function liftSuspensions({ gateway: { api } }: World): Promise<void> {
  const path = '/api/v1/suspensions';
  for (;;) {
    const { body } = await api.get<{ items: { id: string }[] }>(path, bootstrapKey);
    if (body.items.length === 0) return;
    for (const { id } of body.items) {
      const { status } = await api.send('DELETE', `${path}/${id}`, { bearer: bootstrapKey, json: {} });
      if (status !== 200) throw new Error(`a suspension cannot be lifted: ${status}`);
    }
  }
}

/** Operations to control. Every third is paused, the first has a namesake, and one is named in full. */
async function makeOps(gateway: TestGateway, [bot, sentinel]: readonly (Registered | undefined)[]) {
  if (bot === undefined || sentinel === undefined) throw new Error('there are no agents');
  const opIds: string[] = [];
  const controlIds: string[] = [];
  for (let i = 0; i < 60; i++) {
    const { opId } = await gateway.check(bot, { traceId: `trace-${i}`, spanId: 'span', runId: 'run' });
    opIds.push(opId);
    if (i % 3 !== 0) continue;
    const path = `/api/v1/ops/${encodeURIComponent(opId)}/pause`;
    const { body } = await gateway.api.post<{ control: { id: string } }>(path, bootstrapKey);
    controlIds.push(body.control.id);
  }
  // No case names this agent, so nothing suspends it. Some operations keep running, whatever else was called.
  for (let i = 0; i < 20; i++) {
    opIds.push((await gateway.check(sentinel, { traceId: `sentinel-${i}`, spanId: 'span' })).opId);
  }
  await gateway.check(sentinel, { traceId: 'trace-0', spanId: 'span' });
  const { orgId, teamId, agentId } = bot.id;
  return { opIds: [...opIds, `${orgId}/${teamId}/${agentId}/trace-0:span`], controlIds };
}

const asking = 'scope: agent:globex/ops/asker\nrules: [{ effect: require_approval, approvals: { ttl_secs: 86400 } }]\n';

/** Approvals that wait for a verdict, and grants from others. */
async function makeApprovals(gateway: TestGateway): Promise<Record<string, string[]>> {
  gateway.writePolicy('asking.yaml', asking);
  const asker = await gateway.register({ orgId: 'globex', teamId: 'ops', agentId: 'asker' });
  const ask = async (runId: string) => (await gateway.check(asker, { runId })).approvalId;
  await eventually(async () => {
    if ((await ask('first')) === '') throw new Error('nobody is asked yet');
  });
  const grantIds: string[] = [];
  for (let i = 0; i < 12; i++) {
    const path = `/api/v1/approvals/${await ask(`granted-${i}`)}/approve`;
    const json = { grant: { reach: 'run' } };
    grantIds.push((await gateway.api.post<{ grant_id: string }>(path, bootstrapKey, json)).body.grant_id);
  }
  const approvalIds: string[] = [];
  for (let i = 0; i < 60; i++) approvalIds.push(await ask(`asked-${i}`));
  return { 'approvals id': approvalIds, 'grants id': grantIds };
}

/** Stored policies, every third of a tenant. None denies what the others allow. */
async function makePolicies(gateway: TestGateway): Promise<string[]> {
  const names = Array.from({ length: 12 }, (_, index) => `stored-${index}`);
  for (const [index, name] of names.entries()) {
    const json = { source: index % 3 === 0 ? 'scope: org:acme\n' : 'rules: []\n' };
    await gateway.api.send('PUT', `/api/v1/policies/${name}`, { bearer: bootstrapKey, json });
  }
  return names;
}

/** Accounts and invites, by parameter name. */
async function makePeople(gateway: TestGateway): Promise<Record<string, string[]>> {
  const emails = Array.from({ length: 40 }, (_, index) => `person${index}@example.com`);
  const ids: string[] = [];
  for (const email of emails.slice(0, 3)) ids.push((await new Person(gateway).register(email)).body.account.id);
  const invites: { readonly id: string; readonly token: string }[] = [];
  for (let i = 0; i < 30; i++) {
    const json = { email: `invited${i}@example.com` };
    const { body } = await gateway.api.post<{ invite: { id: string }; token: string }>(invitePath, bootstrapKey, json);
    invites.push({ id: body.invite.id, token: body.token });
  }
  return {
    email: emails,
    password: [password],
    token: invites.map(({ token }) => token),
    'accounts id': ids,
    'invites id': invites.map(({ id }) => id),
  };
}

const invitePath = '/api/v1/auth/invite';

/** Every third key is bound to a tenant, so that its admin finds some, too. */
function spareGrant(index: number): Grant {
  return index % 3 === 0 ? { scopes: ['read'], org_id: 'acme' } : { scopes: ['read'] };
}

async function makeCredentials(gateway: TestGateway): Promise<World['credentials']> {
  const all = ['read', 'write', 'admin'];
  const reader = await makeKey(gateway, { scopes: ['read'] });
  const tenant = await makeKey(gateway, { scopes: all, org_id: 'acme' });
  const team = await makeKey(gateway, { scopes: ['read', 'write'], org_id: 'acme', team_id: 'core' });
  const revoked = await makeKey(gateway, { scopes: all });
  const tokenOfRevoked = await exchange(gateway, revoked.key);
  await gateway.api.post(`/api/v1/iam/api-keys/${revoked.id}/revoke`, bootstrapKey);
  const expired = await makeKey(gateway, { scopes: all, ttl_secs: 1 });
  const token = await exchange(gateway, bootstrapKey);
  await eventually(async () => {
    const { status } = await gateway.api.get('/api/v1/auth/me', expired.key);
    if (status !== 401) throw new Error('the key has not expired yet');
  });
  const good = (key: string, level: 'read' | 'write' | 'admin', isBound: boolean, isKey = true): FuzzCredential => ({
    authorization: `Bearer ${key}`,
    level,
    isBound,
    isKey,
  });
  const bad = (authorization: string | undefined): FuzzCredential => ({
    authorization,
    level: 'bad',
    isBound: false,
    isKey: false,
  });
  return {
    admin: good(bootstrapKey, 'admin', false),
    'admin token': good(token, 'admin', false, false),
    'admin in small letters': { ...good(bootstrapKey, 'admin', false), authorization: `bearer   ${bootstrapKey}` },
    reader: good(reader.key, 'read', false),
    tenant: good(tenant.key, 'admin', true),
    team: good(team.key, 'write', true),
    none: bad(undefined),
    revoked: bad(`Bearer ${revoked.key}`),
    'token of a revoked key': bad(`Bearer ${tokenOfRevoked}`),
    expired: bad(`Bearer ${expired.key}`),
    'tampered token': bad(`Bearer ${token.slice(0, -4)}AAAA`),
    'token without a signature': bad(`Bearer ${unsigned(token)}`),
    'half a key': bad(`Bearer ${bootstrapKey.slice(0, 30)}`),
    basic: bad('Basic YWRtaW46YWRtaW4='),
    empty: bad(''),
    long: bad(`Bearer ${'x'.repeat(8000)}`),
  };
}

function unsigned(token: string): string {
  const [, claims = ''] = token.split('.');
  return `${Buffer.from('{"alg":"none"}').toString('base64url')}.${claims}.`;
}

async function makeKey(gateway: TestGateway, grant: Grant): Promise<{ id: string; key: string }> {
  const answer = await gateway.api.post<{ id: string; key: string }>('/api/v1/iam/api-keys', bootstrapKey, {
    label: 'fuzz',
    ...grant,
  });
  return answer.body;
}

async function exchange(gateway: TestGateway, key: string): Promise<string> {
  const answer = await gateway.api.post<{ token: string }>('/api/v1/auth/token', key);
  return answer.body.token;
}
