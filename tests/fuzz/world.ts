import type { ApiDocument } from './document.ts';
import { readDocument } from './document.ts';
import type { Registered } from '../harness/gateway.ts';
import { allowAll, bootstrapKey, TestGateway } from '../harness/gateway.ts';
import { eventually } from '../harness/eventually.ts';

/** What a credential is good for: `bad` ones must be refused before anything else is looked at. */
export interface FuzzCredential {
  readonly authorization: string | undefined;
  readonly level: 'bad' | 'read' | 'write' | 'admin';
  readonly isKey: boolean;
  readonly isBound: boolean;
}

/** A gateway with something in it, to be called with whatever comes to mind. */
export interface World {
  readonly gateway: TestGateway;
  readonly document: ApiDocument;
  readonly credentials: Readonly<Record<string, FuzzCredential>>;
  /** Values that mean something here, by the name of the parameter. */
  readonly known: Readonly<Record<string, readonly string[]>>;
  /** An agent that no case names. */
  readonly sentinel: Registered;
}

const noLimits = {
  SVC_RATE_LIMIT_AUTH_PER_MIN: '0',
  SVC_RATE_LIMIT_PUBLIC_PER_MIN: '0',
  SVC_RATE_LIMIT_API_PER_MIN: '0',
};

interface Grant {
  readonly scopes: readonly string[];
  readonly org_id?: string;
  readonly team_id?: string;
  readonly ttl_secs?: number;
}

export async function makeWorld(spareKeys: number): Promise<World> {
  const gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll }, env: noLimits });
  const [bot] = await registerAll(gateway);
  const sentinel = await gateway.register({ orgId: 'sentinel-org', teamId: 'sentinel', agentId: 'sentinel' });
  const opId = bot === undefined ? '' : (await gateway.check(bot)).opId;
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
      agent: ['bot', 'kid'],
      agent_id: ['bot', 'kid'],
      id: spares,
      op_id: [opId],
      event_type: ['ActionAllowed', 'AgentRegistered', 'A2AImpersonationAttempted'],
      q: ['bot', 'acme'],
      cursor: [Buffer.from('v1:3').toString('base64url'), Buffer.from('v1:999999999999999').toString('base64url')],
    },
    sentinel,
  };
}

/** A parent and a child in every org and team that cases name, so that most names that are put together exist. */
async function registerAll(gateway: TestGateway): Promise<Registered[]> {
  const parents: Registered[] = [];
  for (const orgId of ['acme', 'globex', '']) {
    for (const teamId of ['core', 'ops', '']) {
      const bot = await gateway.register({ orgId, teamId, agentId: 'bot' }, { name: 'Bot' });
      await gateway.register({ orgId, teamId, agentId: 'kid' }, { parentAgentId: bot.id });
      parents.push(bot);
    }
  }
  return parents;
}

/** Every third one is bound to a tenant, so that its admin finds some, too. */
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
