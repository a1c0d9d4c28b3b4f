import { ActionType, paths, RevokeDelegationRequest, RevokeDelegationResponse } from '@reeve/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ControlStream } from '../harness/control-stream.ts';
import { beginBeforeItEnds, makeKey } from '../harness/credentials.ts';
import { delegate } from '../harness/delegate.ts';
import { eventually } from '../harness/eventually.ts';
import type { Registered, TestGateway } from '../harness/gateway.ts';
import { bootstrapKey, toolCall } from '../harness/gateway.ts';
import { sharedNats } from '../harness/nats.ts';
import type { TestStore } from '../harness/stores.ts';
import { durableStores, postgresStore } from '../harness/stores.ts';

const [allow, deny, pending] = [1, 2, 3];
const policies = {
  'all.yaml': [
    'name: all',
    'default: allow',
    'rules:',
    '  - {name: ask, effect: require_approval, tools: [ask]}',
    '---',
    'scope: agent:acme/core/boss',
    'name: of-boss',
    'rules: [{name: no-mail, effect: deny, tools: ["mail_*"]}]',
    '',
  ].join('\n'),
};

function revoke(gateway: TestGateway, by: Registered, childId: string) {
  const request = { agentId: by.id, credentialToken: by.token, childId };
  return gateway.client.call(paths.revokeDelegation, RevokeDelegationRequest, RevokeDelegationResponse, request);
}

interface Shown {
  readonly delegation: Readonly<Record<string, unknown>> | null;
}

async function shown(gateway: TestGateway, agentId: string): Promise<Shown['delegation']> {
  const answer = await gateway.api.get<Shown>(`/api/v1/agents/acme/core/${agentId}`, bootstrapKey);
  expect(answer.status).toBe(200);
  return answer.body.delegation;
}

const use = (tool: string) => ({ context: toolCall(tool) });

describe.each(durableStores)('delegation on $name', ({ open }) => {
  let store: TestStore;
  let gateway: TestGateway;
  let boss: Registered;
  beforeAll(async () => {
    store = await open();
    gateway = await store.start({ policies });
    boss = await gateway.register({ agentId: 'boss' });
  });
  afterAll(() => store[Symbol.asyncDispose]());

  test('a delegate acts within its limits, which the list of agents shows with what is used of them', async () => {
    const terms = {
      actions: [ActionType.TOOL_CALL],
      tools: ['read_*', 'mail_*'],
      maxChecks: 5,
      maxCostMicros: 2_000_000,
    };
    const child = await delegate(gateway, boss, 'limited', { ...terms, name: 'helper' });
    const first = await gateway.check(child, { ...use('read_file'), estimatedCostMicros: 1_500_000 });
    expect(first.decision).toBe(allow);
    expect(await gateway.check(child, use('write_file'))).toMatchObject({ decision: deny, policyRule: 'delegation' });
    expect(await gateway.check(child, use('mail_read'))).toMatchObject({
      decision: deny,
      policyRule: 'of-boss/no-mail',
    });
    const dear = { ...use('read_file'), estimatedCostMicros: 500_001 };
    expect(await gateway.check(child, dear)).toMatchObject({ decision: deny, policyRule: 'delegation' });
    await gateway.complete(child, first.opId, { actualCostMicros: 250_000, outcome: 1 });
    expect(await shown(gateway, 'limited')).toEqual({
      by: { org_id: 'acme', team_id: 'core', agent_id: 'boss' },
      expires_at: child.expiresAt,
      actions: ['tool_call'],
      tools: ['read_*', 'mail_*'],
      max_cost_usd: '2.00',
      spent_usd: '0.25',
      max_checks: 5,
      checks: 4,
    });
    expect(await shown(gateway, 'boss')).toBeNull();
    const { body } = await gateway.api.get<{ agents: { agent_id: string }[] }>(
      '/api/v1/topology/overview',
      bootstrapKey,
    );
    expect(body.agents.find(({ agent_id: id }) => id === 'limited')).toMatchObject({
      name: 'helper',
      depth: 1,
      parent: { agent_id: 'boss' },
      delegation: { checks: 4 },
    });
    expect(await gateway.check(child, use('read_file'))).toMatchObject({ decision: allow });
    expect(await gateway.check(child, use('read_file'))).toMatchObject({ decision: deny, policyRule: 'delegation' });
  });

  test('what it was refused at the wire is a status of its own', async () => {
    await gateway.register({ agentId: 'registered' });
    await expect(delegate(gateway, boss, 'registered')).rejects.toMatchObject({ code: 6 });
    await expect(delegate(gateway, { ...boss, token: 'x'.repeat(40) }, 'child')).rejects.toMatchObject({ code: 16 });
    await expect(delegate(gateway, boss, 'child', { ttlSecs: 0 })).rejects.toMatchObject({ code: 3 });
    await expect(delegate(gateway, boss, 'child', { ttlSecs: 86_401 })).rejects.toMatchObject({ code: 3 });
    await expect(delegate(gateway, boss, 'child', { maxChecks: -1 })).rejects.toMatchObject({ code: 3 });
    await expect(delegate(gateway, boss, 'child', { tools: ['['] })).rejects.toMatchObject({ code: 3 });
    await expect(delegate(gateway, boss, 'child', { actions: [0] })).rejects.toMatchObject({ code: 3 });
    await expect(delegate(gateway, boss, 'a/b')).rejects.toMatchObject({ code: 3 });
    await expect(revoke(gateway, boss, 'nobody')).rejects.toMatchObject({ code: 5 });
    let last = boss;
    for (let depth = 1; depth <= 8; depth++) last = await delegate(gateway, last, `deep-${depth}`);
    await expect(delegate(gateway, last, 'deep-9')).rejects.toMatchObject({ code: 9 });
    const none = await delegate(gateway, boss, 'none', { maxChecks: 0 });
    await expect(delegate(gateway, none, 'more')).rejects.toMatchObject({ code: 9 });
  });

  test('its token is no credential for anything else', async () => {
    const child = await delegate(gateway, boss, 'sly');
    const posing = { id: boss.id, token: child.token };
    await expect(gateway.heartbeat(posing)).rejects.toMatchObject({ code: 16 });
    await expect(gateway.deregister(posing)).rejects.toMatchObject({ code: 16 });
    await expect(revoke(gateway, posing, 'sly')).rejects.toMatchObject({ code: 16 });
    expect(await gateway.check(posing)).toMatchObject({ decision: deny, policyRule: 'identity' });
    await expect(gateway.register({ agentId: 'thief' }, { credentialToken: child.token })).rejects.toMatchObject({
      code: 6,
    });
    await expect(gateway.register({ agentId: 'sly' })).rejects.toMatchObject({ code: 6 });
    const request = { agent_id: 'x' };
    expect((await gateway.api.post('/api/v1/agents', child.token, request)).status).toBe(401);
  });

  test('it is told to stop what it does when it ends, and its stream ends', async () => {
    const child = await delegate(gateway, boss, 'busy');
    const below = await delegate(gateway, child, 'below');
    const streams = [await ControlStream.open(gateway, child), await ControlStream.open(gateway, below)];
    const ids = { traceId: 'busy', spanId: 's' };
    for (const agent of [child, below]) expect(await gateway.check(agent, ids)).toMatchObject({ decision: allow });
    await revoke(gateway, boss, 'busy');
    for (const stream of streams) {
      expect(await stream.heard(1)).toEqual(['1 terminate busy:s']);
      expect(await stream.ended).toMatchObject({ code: 16 });
    }
    const path = (agent: string) => `/api/v1/ops/${encodeURIComponent(`acme/core/${agent}/busy:s`)}`;
    for (const agent of ['busy', 'below']) {
      const { status, body } = await gateway.api.get<{ state: string }>(path(agent), bootstrapKey);
      expect([status, body.state]).toEqual([200, 'terminated']);
    }
    for (const agent of [child, below]) {
      expect(await gateway.check(agent)).toMatchObject({ decision: deny, policyRule: 'identity' });
      await expect(gateway.heartbeat(agent)).rejects.toMatchObject({ code: 16 });
    }
  });

  test('it ends by time, with what waits for people', async () => {
    const { child, held } = await beginBeforeItEnds(async (ttlSecs) => {
      const made = await delegate(gateway, boss, 'short', { ttlSecs });
      const asked = await gateway.check(made, { ...use('ask'), traceId: `short-${ttlSecs}`, spanId: 's' });
      expect(asked.decision).toBe(pending);
      return { child: made, held: asked };
    });
    await eventually(async () => {
      expect(await gateway.check(child)).toMatchObject({ decision: deny, policyRule: 'identity' });
    });
    await eventually(async () => {
      const { body } = await gateway.api.get<{ state: string }>(`/api/v1/ops/${held.opId}`, bootstrapKey);
      expect(body.state).toBe('terminated');
    });
    const verdict = await gateway.api.post(`/api/v1/approvals/${held.approvalId}/approve`, bootstrapKey, {});
    expect(verdict.status).toBe(409);
    await eventually(() => {
      const ended = gateway.audit().filter(({ event_type: type }) => type === 'DelegationEnded');
      expect(ended.at(-1)).toMatchObject({ lineage: { agent_id: 'short' }, payload: { cause: 'expired' } });
    });
  });

  test('an operator ends it, within the tenant of its key', async () => {
    await delegate(gateway, boss, 'ended');
    const path = '/api/v1/agents/acme/core/ended/revoke-delegation';
    const stranger = await makeKey(gateway, { scopes: ['write'], org_id: 'umbrella' });
    const reader = await makeKey(gateway, { scopes: ['read'], org_id: 'acme' });
    expect((await gateway.api.post(path, stranger.key, {})).status).toBe(404);
    expect((await gateway.api.post(path, reader.key, {})).status).toBe(403);
    const own = await makeKey(gateway, { scopes: ['write'], org_id: 'acme' });
    const ended = await gateway.api.post(path, own.key, { reason: 'odd' });
    expect(ended).toMatchObject({ status: 200, body: { agent_id: 'ended', delegation: { by: { agent_id: 'boss' } } } });
    expect(await gateway.api.post(path, own.key, {})).toMatchObject({ status: 404 });
    const none = await gateway.api.post('/api/v1/agents/acme/core/boss/revoke-delegation', own.key, {});
    expect(none).toMatchObject({ status: 409, body: { code: 'delegation_not_found' } });
    expect(gateway.audit().findLast(({ event_type: type }) => type === 'DelegationEnded')).toMatchObject({
      reason: 'odd',
      actor: { kind: 'api_key' },
      payload: { cause: 'revoked' },
    });
  });

  test('what it used outlives a kill, and so do its limits', async () => {
    const terms = { maxChecks: 4, maxCostMicros: 3_000_000, maxDelegates: 1 };
    const child = await delegate(gateway, boss, 'lasting', terms);
    const below = await delegate(gateway, child, 'lasting-below');
    const settled = await gateway.check(below, { estimatedCostMicros: 1_000_000 });
    await gateway.complete(below, settled.opId, { outcome: 1 });
    expect(await gateway.check(below, { estimatedCostMicros: 1_000_000 })).toMatchObject({ decision: allow });
    await gateway.kill();
    gateway = await store.start({ policies });
    await expect(delegate(gateway, below, 'lasting-more')).rejects.toMatchObject({ code: 8 });
    expect(await shown(gateway, 'lasting')).toMatchObject({ checks: 2, spent_usd: '1.00', max_checks: 4 });
    expect(await gateway.check(child, { estimatedCostMicros: 1_000_001 })).toMatchObject({
      decision: deny,
      policyRule: 'delegation',
    });
    expect(await gateway.check(below, { estimatedCostMicros: 1_000_000 })).toMatchObject({ decision: allow });
    expect(await gateway.check(below)).toMatchObject({ decision: deny, policyRule: 'delegation' });
    const verified = await gateway.api.get<{ consistent: boolean }>('/api/v1/budgets/verify', bootstrapKey);
    expect(verified.body.consistent).toBe(true);
  });
});

test('two gateways behave as one, however many ask at once', async () => {
  await using store = await postgresStore.open();
  const options = { policies, env: { SVC_NATS_URL: (await sharedNats()).url() } };
  const [one, two] = [await store.start(options), await store.start(options)];
  const boss = await one.register({ agentId: 'boss' });
  const middle = await delegate(one, boss, 'middle', { maxChecks: 30, maxCostMicros: 20 });
  const leaves = await Promise.all(
    [1, 2, 3, 4].map((nth) => delegate(nth % 2 === 0 ? one : two, middle, `leaf-${nth}`)),
  );
  const asked = Array.from({ length: 60 }, (_, nth) => {
    const leaf = leaves[nth % leaves.length] ?? middle;
    return (nth % 3 === 0 ? one : two).check(leaf, { estimatedCostMicros: nth % 2 });
  });
  const answers = await Promise.all(asked);
  const counted = answers.filter(({ decision, reason }) => decision === allow || !reason.includes('checks'));
  expect(counted).toHaveLength(30);
  for (const gateway of [one, two]) expect(await shown(gateway, 'middle')).toMatchObject({ checks: 30 });
  const spent = answers.filter(({ decision }, nth) => decision === allow && nth % 2 === 1);
  expect(spent.length).toBeLessThanOrEqual(20);
  await revoke(two, middle, 'leaf-1');
  const [first = middle] = leaves;
  expect(await one.check(first)).toMatchObject({ decision: deny, policyRule: 'identity' });
  await one.api.post('/api/v1/agents/acme/core/boss/suspend', bootstrapKey, { reason: 'odd' });
  for (const gateway of [one, two]) {
    expect(await gateway.check(leaves[1] ?? middle)).toMatchObject({ decision: deny, policyRule: 'identity' });
  }
});
