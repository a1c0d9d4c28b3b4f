import type { Problem, RouteOutput, Routes } from '@reeve/contract/http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CreatedKey } from '../harness/credentials.ts';
import { makeKey, registerAs, tokenOf } from '../harness/credentials.ts';
import type { Registered, TestGateway } from '../harness/gateway.ts';
import { bootstrapKey, toolCall } from '../harness/gateway.ts';
import { Person } from '../harness/person.ts';
import type { TestStore } from '../harness/stores.ts';
import { durableStores } from '../harness/stores.ts';

type Approval = RouteOutput<Routes['getApproval']>;
type Verdict = Approval & Problem;

const policy = `
name: p
default: allow
budget: { daily_limit_usd: 100, org_daily_limit_usd: 10, agent_daily_limit_usd: 2, action_on_exceed: require_approval }
rules:
  - { name: one, effect: require_approval, tools: [one] }
  - { name: two, effect: require_approval, tools: [two], approvals: { count: 2 } }
---
name: umbrella
scope: org:umbrella
budget: { daily_limit_usd: 1000 }
`;
const env = { SVC_RATE_LIMIT_AUTH_PER_MIN: '0', SVC_RATE_LIMIT_API_PER_MIN: '0' };

describe.each(durableStores)('whose verdict counts, on $name', ({ open }) => {
  let store: TestStore;
  let gateway: TestGateway;
  beforeAll(async () => {
    store = await open();
    gateway = await store.start({ env, policies: { 'p.yaml': policy } });
  });
  afterAll(() => store[Symbol.asyncDispose]());

  let made = 0;
  const key = (grant: object = {}, bearer = bootstrapKey): Promise<CreatedKey> =>
    makeKey(gateway, { label: `key ${++made}`, scopes: ['write'], ...grant }, bearer);
  const rotated = async ({ id }: CreatedKey, bearer = bootstrapKey): Promise<CreatedKey> => {
    const answer = await gateway.api.post<CreatedKey>(`/api/v1/iam/api-keys/${id}/rotate`, bearer);
    expect(answer.status, answer.text).toBe(201);
    return answer.body;
  };
  async function registered(bearer = bootstrapKey, orgId = 'acme'): Promise<Registered> {
    const agentId = `bot-${++made}`;
    const { credentialToken } = await registerAs(gateway, bearer, { orgId, agentId });
    return { id: { orgId, teamId: 'core', agentId }, token: credentialToken };
  }
  async function held(agent: Registered, tool: string, members: object = {}): Promise<string> {
    const { approvalId } = await gateway.check(agent, { context: toolCall(tool), ...members });
    expect(approvalId).not.toBe('');
    return approvalId;
  }
  const give = (id: string, bearer: string, what = 'approve') =>
    gateway.api.post<Verdict>(`/api/v1/approvals/${id}/${what}`, bearer, {});
  const ownApproval = { status: 403, body: { code: 'own_approval' } };
  const decidedAlready = { status: 409, body: { code: 'already_decided' } };
  const wider = { status: 403, body: { code: 'imposed_by_wider' } };

  test('not that of the credential that registered the agent, nor of what comes from it, admin of its org or not', async () => {
    const own = await key({ org_id: 'acme', scopes: ['admin'] });
    const child = await key({}, own.key);
    const agent = await registered(own.key);
    const id = await held(agent, 'one');
    const refuse = async (...bearers: string[]) => {
      for (const bearer of bearers) {
        expect(await give(id, bearer)).toMatchObject(ownApproval);
        expect(await give(id, bearer, 'reject')).toMatchObject(ownApproval);
      }
    };
    await refuse(own.key, child.key, await tokenOf(gateway, own.key, 'write'));
    await refuse((await rotated(own)).key);
    const other = await key({ org_id: 'acme' });
    expect(await give(id, other.key)).toMatchObject({ status: 200, body: { state: 'approved' } });
  });

  test('that of an unbound admin counts also where it registered the agent itself', async () => {
    const id = await held(await registered(), 'one');
    expect(await give(id, bootstrapKey)).toMatchObject({ status: 200, body: { state: 'approved' } });
  });

  test('two of one org’s admin are one, whatever keys it makes or rotates', async () => {
    const admin = await key({ org_id: 'acme', scopes: ['admin'] });
    const child = await key({}, admin.key);
    const id = await held(await registered(), 'two');
    expect(await give(id, admin.key)).toMatchObject({ status: 200, body: { state: 'open' } });
    expect(await give(id, child.key)).toMatchObject(decidedAlready);
    const after = await rotated(admin);
    for (const bearer of [after.key, (await key({}, after.key)).key]) {
      expect(await give(id, bearer)).toMatchObject(decidedAlready);
    }
    const other = await key({ org_id: 'acme' });
    expect(await give(id, other.key)).toMatchObject({ status: 200, body: { state: 'approved' } });
  });

  test('nor does it become another by rotating the key of a colleague, or one made with it since', async () => {
    const admin = await key({ org_id: 'acme', scopes: ['admin'] });
    const colleague = await key({ org_id: 'acme', scopes: ['admin'] });
    const id = await held(await registered(), 'two');
    expect(await give(id, admin.key)).toMatchObject({ status: 200, body: { state: 'open' } });
    const taken = await rotated(colleague, admin.key);
    const made = await key({}, taken.key);
    expect(await give(id, taken.key)).toMatchObject(decidedAlready);
    for (const bearer of [made.key, (await rotated(taken)).key]) {
      expect(await give(id, bearer)).toMatchObject(decidedAlready);
    }
    const untouched = await rotated(await key({ org_id: 'acme' }));
    expect(await give(id, untouched.key)).toMatchObject({ status: 200, body: { state: 'approved' } });
  });

  test('keys that an unbound admin key makes stand for themselves', async () => {
    const id = await held(await registered(), 'two');
    expect(await give(id, (await key()).key)).toMatchObject({ body: { state: 'open' } });
    expect(await give(id, (await key()).key)).toMatchObject({ body: { state: 'approved' } });
  });

  test('a key counts as the account that made it, also after a restart', async () => {
    const ann = new Person(gateway);
    expect((await ann.register('ann@example.com')).status).toBe(201);
    const keyOf = async () =>
      (await ann.call<CreatedKey>('POST', '/api/v1/iam/api-keys', { label: 'mine', scopes: ['admin'] })).body;
    const first = await keyOf();
    const second = await key({}, (await keyOf()).key);
    const id = await held(await registered(), 'two');
    expect(await give(id, first.key)).toMatchObject({ body: { state: 'open' } });
    expect((await ann.call<Verdict>('POST', `/api/v1/approvals/${id}/approve`, {})).body.code).toBe('already_decided');
    await gateway.kill();
    gateway = await store.start({ env, policies: { 'p.yaml': policy } });
    expect(await give(id, second.key)).toMatchObject(decidedAlready);
    expect(await give(id, bootstrapKey)).toMatchObject({ status: 200, body: { state: 'approved' } });
  });

  describe('of a charge past a cap', () => {
    const costs = (usd: number) => ({ estimatedCostMicros: usd * 1_000_000 });

    test('that the operator imposed on an org or on all: only of somebody bound to none; to reject it anybody may', async () => {
      const org = await key({ org_id: 'acme', scopes: ['admin'] });
      const agent = await registered();
      for (const usd of [11, 101]) {
        const id = await held(agent, 'search', costs(usd));
        const refused = await give(id, org.key);
        expect(refused).toMatchObject(wider);
        expect(refused.body.detail).toContain('bound to no org');
        expect(await give(id, org.key, 'reject')).toMatchObject({ status: 200, body: { state: 'rejected' } });
      }
      const id = await held(agent, 'search', costs(11));
      expect(await give(id, (await key()).key)).toMatchObject({ status: 200, body: { state: 'approved' } });
    });

    test('of an agent: of whoever stands above it; and of what the org has set for itself: of the org', async () => {
      const team = await key({ org_id: 'umbrella', team_id: 'core' });
      const org = await key({ org_id: 'umbrella', scopes: ['admin'] });
      const agent = await registered(bootstrapKey, 'umbrella');
      const ofAgent = await held(agent, 'search', costs(3));
      expect(await give(ofAgent, team.key)).toMatchObject({ status: 200, body: { state: 'approved' } });
      const source = 'name: own\nscope: org:umbrella\nbudget: { daily_limit_usd: 5 }';
      const put = await gateway.api.send('PUT', '/api/v1/policies/own', { bearer: org.key, json: { source } });
      expect(put.status, put.text).toBe(200);
      const ofOrg = await held(agent, 'search', costs(4));
      expect(await give(ofOrg, team.key)).toMatchObject(wider);
      expect(await give(ofOrg, org.key)).toMatchObject({ status: 200, body: { state: 'approved' } });
    });
  });
});
