import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeKey, registerAs, tokenOf } from '../harness/credentials.ts';
import type { TestGateway } from '../harness/gateway.ts';
import { bootstrapKey, TestGateway as Gateway } from '../harness/gateway.ts';
import type { Written } from './commit-by-hand.ts';
import { commitByHand } from './commit-by-hand.ts';
import type { Pair } from './pair.ts';
import { startPair } from './pair.ts';

let pair: Pair;
beforeAll(async () => {
  pair = await startPair();
});
afterAll(() => pair[Symbol.asyncDispose]());

async function metadataAt(gateway: TestGateway, agentId: string): Promise<unknown> {
  const { body } = await gateway.api.get<{ metadata: unknown }>(`/api/v1/agents/acme/core/${agentId}`, bootstrapKey);
  return body.metadata;
}

test.each([
  ['no-number', { $big: 'x' }],
  ['a-number', { $big: '12' }],
  ['names-of-objects', { constructor: 'a', toString: 'b', hasOwnProperty: 'c', $ref: '#', '': 'd', '0': 'e' }],
  ['texts-of-steps', { steps: '[["new",0,5,"x"]]', touched: 'everything', change: '{"kind":"agent_removed"}' }],
])('metadata that a tenant chose is only ever text (%s)', async (agentId, metadata) => {
  const { one, two } = pair;
  const bystander = await one.register({ orgId: 'other', agentId: `beside-${agentId}` });
  const { key } = await makeKey(one, { scopes: ['read', 'write'], org_id: 'acme', team_id: 'core' });
  const { credentialToken: token } = await registerAs(one, key, { agentId }, { metadata });
  const agent = { id: { orgId: 'acme', teamId: 'core', agentId }, token };
  for (const gateway of [one, two]) {
    expect(await gateway.check(bystander)).toMatchObject({ decision: 1 });
    expect(await gateway.check(agent)).toMatchObject({ decision: 1 });
    expect(await metadataAt(gateway, agentId)).toEqual(metadata);
  }
  // What follows from the record that the other gateway holds.
  const path = `/api/v1/agents/acme/core/${agentId}/suspend`;
  expect((await two.api.post(path, bootstrapKey, { reason: 'enough' })).status).toBe(200);
  for (const gateway of [one, two]) {
    expect(await gateway.check(agent)).toMatchObject({ decision: 2, reason: 'agent is suspended' });
    expect((await gateway.ready()).body.status).toBe('ok');
  }
  await using later = await Gateway.start(pair.options);
  expect(await metadataAt(later, agentId)).toEqual(metadata);
  expect(await later.check(bystander)).toMatchObject({ decision: 1 });
  expect(await later.check(agent)).toMatchObject({ decision: 2, reason: 'agent is suspended' });
});

function told(step: unknown, touched: { agents?: string[]; orgs?: string[] }): string {
  return JSON.stringify({ steps: [step], touched: { agents: [], orgs: [], everything: false, ...touched } });
}

const outOfService = { decision: 2, reason: 'agent is out of service' };
const touches = (agentId: string) => ({ agents: [`acme/core/${agentId}`] });
const newStep = { change: { kind: 'of_another_release', agent: 5 } };
const noDocument = { change: { kind: 'policy_saved', saved: { name: 'tenant/rules', version: 1e6, source: 5 } } };

test.each<[string, string, Written, { readonly agents: readonly string[]; readonly orgs?: readonly string[] }]>([
  ['not JSON', 'a', { told: '{' }, { agents: [] }],
  ['not a commit', 'b', { told: '{"steps":5}' }, { agents: [] }],
  ['not JSON, with an entry', 'c', { told: '{', entryOf: 'c' }, { agents: ['c'] }],
  ['a step of another release', 'd', { told: told(newStep, touches('d')) }, { agents: ['d'] }],
  ['no step at all', 'e', { told: told(null, touches('e')) }, { agents: ['e'] }],
  ['a packed step of another release', 'f', { told: told(['newer', 0, 1], touches('f')) }, { agents: ['f'] }],
  ['a document that cannot be followed', 'g', { told: told(noDocument, {}) }, { agents: [], orgs: ['tenant'] }],
])('a commit that cannot be read stops nobody (%s)', async (_, name, written, { agents, orgs = [] }) => {
  await using own = await startPair();
  const { one, two } = own;
  const concerned = await one.register({ agentId: name });
  const beside = await one.register({ agentId: 'beside' });
  const tenant = await one.register({ orgId: 'tenant', agentId: name });
  await commitByHand(own.database, written);
  for (const gateway of [one, two]) {
    // Whoever writes next stands on it.
    expect(await gateway.check(beside)).toMatchObject({ decision: 1 });
    expect(await gateway.check(concerned)).toMatchObject(agents.includes(name) ? outOfService : { decision: 1 });
    expect(await gateway.check(tenant)).toMatchObject(orgs.includes('tenant') ? outOfService : { decision: 1 });
    expect(await gateway.ready()).toMatchObject({ status: 200, body: { parts: { records: { status: 'degraded' } } } });
    expect(gateway.output().stderr).toContain('something stored cannot be read');
  }
  if (agents.includes(name)) {
    await expect(two.heartbeat(concerned)).rejects.toThrow('UNAVAILABLE: agent is out of service');
    await expect(two.register({ agentId: name })).rejects.toThrow('UNAVAILABLE: agent is out of service');
  }
  // A start reads rows, and not what others once said of them.
  await using later = await Gateway.start(own.options);
  for (const agent of [beside, concerned, tenant]) expect(await later.check(agent)).toMatchObject({ decision: 1 });
  expect((await later.ready()).body.status).toBe('ok');
});

test('a step that nobody can read and that concerns everybody is told and survived: everybody is out of service', async () => {
  await using own = await startPair();
  const agent = await own.one.register({ agentId: 'agent' });
  const touched = { agents: [], orgs: [], everything: true };
  await commitByHand(own.database, { told: JSON.stringify({ steps: [newStep], touched }) });
  for (const gateway of [own.one, own.two]) {
    expect(await gateway.check(agent)).toMatchObject(outOfService);
    expect(await gateway.ready()).toMatchObject({
      status: 200,
      body: { parts: { records: { status: 'degraded', detail: expect.stringContaining('everybody') as string } } },
    });
    // Operators can see what there is.
    expect((await gateway.api.get('/api/v1/agents', bootstrapKey)).status).toBe(200);
  }
  await using later = await Gateway.start(own.options);
  expect(await later.check(agent)).toMatchObject({ decision: 1 });
});

const revoked = { change: { kind: 'api_key_saved', key: null } };
const retired = { change: { kind: 'signing_key_saved', key: null } };
const lostRights = { change: { kind: 'rights_changed' } };

test.each<[string, string]>([
  ['a step about a key', told(revoked, {})],
  ['a step about a signing key', told(retired, {})],
  ['a step about accounts', told(lostRights, {})],
  ['a step of another release', told(newStep, {})],
  ['no text at all', '{'],
])('credentials are read again where what was done to them cannot be read (%s)', async (_, text) => {
  await using own = await startPair();
  const { one, two, database } = own;
  const agent = await one.register({ agentId: 'agent' });
  const [ended, kept] = [await makeKey(one, { scopes: ['read'] }), await makeKey(one, { scopes: ['read'] })];
  const token = await tokenOf(two, kept.key);
  const statusOf = async (bearer: string) => (await two.api.get('/api/v1/agents', bearer)).status;
  for (const bearer of [ended.key, kept.key, token]) expect(await statusOf(bearer)).toBe(200);
  await database.query(`UPDATE api_keys SET revoked_at = 1 WHERE id = '${ended.id}'`);
  await database.query(`UPDATE signing_keys SET private_jwk = ''`);
  await commitByHand(database, { told: text });
  expect(await statusOf(ended.key)).toBe(401);
  expect(await statusOf(token)).toBe(401);
  expect(await statusOf(kept.key)).toBe(200);
  expect(await two.check(agent)).toMatchObject({ decision: 1 });
});

test('whoever registered an agent of which not all can be read lifts nothing that holds it', async () => {
  await using own = await startPair();
  const { two, database } = own;
  const [registrar, sibling] = [
    await makeKey(two, { org_id: 'acme', scopes: ['read', 'write'] }),
    await makeKey(two, { org_id: 'acme', scopes: ['read', 'write'] }),
  ];
  await two.register({ agentId: 'beside' });
  const control = { action: 'pause', scope: { run_id: 'r' }, reason: '' };
  const scope = { org_id: 'acme', team_id: 'core', action: 'pause', reason: '' };
  expect((await two.api.post('/api/v1/control', sibling.key, control)).status).toBe(202);
  const { body } = await two.api.post<{ id: string }>('/api/v1/suspensions', sibling.key, scope);
  // An agent leaves at another gateway, which writes this, and who had registered it.
  await commitByHand(database, { told: '{', entryOf: 'left' });
  const resume = { ...control, action: 'resume' };
  const lift = (bearer: string) => two.api.send('DELETE', `/api/v1/suspensions/${body.id}`, { bearer, json: {} });
  expect((await two.api.post('/api/v1/control', registrar.key, resume)).status).toBe(503);
  expect((await lift(registrar.key)).status).toBe(503);
  expect((await two.api.post('/api/v1/control', bootstrapKey, resume)).status).toBe(202);
  expect((await lift(bootstrapKey)).status).toBe(200);
});

test('a key that comes from one that cannot be read is out of service, and that is told', async () => {
  await using own = await startPair();
  const { one, database } = own;
  const mother = await makeKey(one, { org_id: 'acme', scopes: ['admin'] });
  const child = await makeKey(one, { org_id: 'acme', scopes: ['read'] }, mother.key);
  const grandchild = await makeKey(one, { org_id: 'acme', scopes: ['admin'] }, mother.key);
  const rotated = await one.api.post<{ key: string }>(`/api/v1/iam/api-keys/${grandchild.id}/rotate`, mother.key, {});
  const other = await makeKey(one, { org_id: 'acme', scopes: ['read'] });
  await database.query('ALTER TABLE api_keys ALTER COLUMN created_at DROP NOT NULL');
  await database.query(`UPDATE api_keys SET created_at = NULL WHERE id = '${mother.id}'`);
  await using later = await Gateway.start(own.options);
  const statusOf = async (bearer: string) => (await later.api.get('/api/v1/agents', bearer)).status;
  expect(await statusOf(mother.key)).toBe(401);
  expect([await statusOf(child.key), await statusOf(rotated.body.key)]).toEqual([503, 503]);
  expect([await statusOf(other.key), await statusOf(bootstrapKey)]).toEqual([200, 200]);
  expect(later.output().stderr).toContain('3 API keys come from one that cannot be read');
  expect(await later.ready()).toMatchObject({ status: 200, body: { parts: { records: { status: 'degraded' } } } });
});

test('a row that cannot be read keeps no gateway from starting, and only its agent from acting', async () => {
  await using own = await startPair();
  const { one, two, database } = own;
  const [damaged, beside] = [await one.register({ agentId: 'damaged' }), await one.register({ agentId: 'beside' })];
  const busy = await one.register({ agentId: 'busy' });
  expect(await two.check(damaged)).toMatchObject({ decision: 1 });
  await database.query(`UPDATE agents SET metadata = '{"hidden' WHERE agent_id = 'damaged'`);
  await database.query(`INSERT INTO ops VALUES ('acme', 'core', 'busy', 't:1', 1, '{')`);
  await using later = await Gateway.start(own.options);
  for (const agent of [damaged, busy]) expect(await later.check(agent)).toMatchObject(outOfService);
  expect(await later.check(beside)).toMatchObject({ decision: 1 });
  await expect(later.register({ agentId: 'damaged' })).rejects.toThrow('UNAVAILABLE: agent is out of service');
  expect(await later.ready()).toMatchObject({ status: 200, body: { parts: { records: { status: 'degraded' } } } });
  // Nothing of the row is told: it may hold what nobody else should read.
  expect(later.output().stderr).not.toContain('hidden');
});
