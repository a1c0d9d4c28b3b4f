import { setTimeout as sleep } from 'node:timers/promises';
import type { RouteOutput, Routes } from '@reeve/contract/http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeKey, tokenOf } from '../harness/credentials.ts';
import { eventually } from '../harness/eventually.ts';
import type { Registered, TestGateway } from '../harness/gateway.ts';
import { allowAll, bootstrapKey, toolCall } from '../harness/gateway.ts';
import type { TestStore } from '../harness/stores.ts';
import { durableStores } from '../harness/stores.ts';
import { verifyChain } from '../harness/verify-chain.ts';

type Logs = RouteOutput<Routes['listLogs']>;
type Overview = RouteOutput<Routes['topologyOverview']>;

const policy = 'name: test\ndefault: allow\nrules:\n  - {name: no, effect: deny, tools: ["no_*"]}\n';
const options = {
  policies: { 'test.yaml': policy },
  env: { SVC_OPS_SWEEP_TICK_SECS: '0.2', SVC_OPS_TTL_SECS: '60' },
};

async function seqs(gateway: TestGateway, query: string): Promise<number[]> {
  const { status, body, text } = await gateway.api.get<Logs>(`/api/v1/logs?${query}`, bootstrapKey);
  expect(status, text).toBe(200);
  return body.items.map((entry) => entry.seq);
}

describe.each(durableStores)('on $name', ({ open }) => {
  let store: TestStore;
  let gateway: TestGateway;
  let agent: Registered;
  let child: Registered;
  beforeAll(async () => {
    store = await open();
    gateway = await store.start(options);
    agent = await gateway.register({ agentId: 'parent' }, { name: 'Odd \0 name', metadata: { 'a\0': 'b' } });
    child = await gateway.register({ agentId: 'child' }, { parentAgentId: agent.id });
  });
  afterAll(() => store[Symbol.asyncDispose]());

  /** Kills the process, and starts another one on the same store. */
  async function crash(): Promise<void> {
    await gateway.kill('SIGKILL');
    gateway = await store.start(options);
  }

  test('a decision is answered, recorded once, and its operation completed', async () => {
    const before = gateway.audit().length;
    expect(await gateway.check(agent, { traceId: 't1', spanId: 's1' })).toMatchObject({ decision: 1 });
    expect(await gateway.check(agent, { context: toolCall('no_way') })).toMatchObject({ decision: 2 });
    expect(await gateway.complete(agent, 't1:s1')).toMatchObject({ state: 'completing' });
    expect(
      gateway
        .audit()
        .slice(before)
        .map((entry) => entry.event_type),
    ).toEqual(['ActionAllowed', 'ActionDenied', 'OpStateChanged']);
    expect(verifyChain(gateway.folder)).toMatchObject({ accepted: true });
  });

  test('kill -9 loses nothing: agents, operations and the chain are as they were, whether they have rows or not', async () => {
    for (const spanId of ['long', 'other']) await gateway.check(agent, { traceId: 'kept', spanId });
    // Long enough for operations in flight to get their own rows.
    await sleep(1000);
    await gateway.check(agent, { traceId: 'kept', spanId: 'young' });
    const entries = gateway.audit().length;
    await crash();
    expect(verifyChain(gateway.folder)).toMatchObject({ accepted: true });
    expect(gateway.audit().length).toBeGreaterThanOrEqual(entries);
    for (const spanId of ['long', 'other', 'young']) {
      expect(await gateway.check(agent, { traceId: 'kept', spanId })).toMatchObject({
        decision: 1,
        opState: 'running',
      });
      expect(await gateway.complete(agent, `kept:${spanId}`)).toMatchObject({ state: 'completing' });
    }
    await crash();
    await expect(gateway.check(agent, { traceId: 'kept', spanId: 'long' })).resolves.toMatchObject({ decision: 2 });
    const { body } = await gateway.api.get<{ name: string }>('/api/v1/agents/acme/core/parent', bootstrapKey);
    expect(body.name).toBe('Odd \0 name');
  });

  test('keys and tokens work, and after a restart what was revoked still is', async () => {
    const [kept, revoked] = [await makeKey(gateway), await makeKey(gateway, { label: 'nul \0 label' })];
    const tokens = [await tokenOf(gateway, kept.key), await tokenOf(gateway, revoked.key)] as const;
    const statuses = () =>
      Promise.all(
        [kept.key, tokens[0], revoked.key, tokens[1]].map(
          async (bearer) => (await gateway.api.get('/api/v1/agents', bearer)).status,
        ),
      );
    expect(await statuses()).toEqual([200, 200, 200, 200]);
    await gateway.api.post(`/api/v1/iam/api-keys/${revoked.id}/revoke`, bootstrapKey);
    expect(await statuses()).toEqual([200, 200, 401, 401]);
    await crash();
    expect(await statuses()).toEqual([200, 200, 401, 401]);
  });

  test('the log is read by filter, newest first and page by page, and exported whole', async () => {
    await gateway.check(child, { traceId: 'find', spanId: 'me', summary: 'Ünïcode needle' });
    const entries = gateway.audit();
    const fitting = (fits: (entry: (typeof entries)[number]) => boolean) =>
      entries
        .filter(fits)
        .map((entry) => entry.seq)
        .toReversed();
    expect(await seqs(gateway, 'op_id=find:me')).toEqual(fitting((entry) => entry.op_id === 'find:me'));
    expect(await seqs(gateway, 'agent_id=child')).toEqual(fitting((entry) => entry.lineage.agent_id === 'child'));
    expect(await seqs(gateway, 'decision=deny&org_id=acme')).toEqual(fitting((entry) => entry.decision === 'deny'));
    expect(await seqs(gateway, 'event_type=AgentRegistered')).toEqual(
      fitting((entry) => entry.event_type === 'AgentRegistered'),
    );
    expect(await seqs(gateway, `q=${encodeURIComponent('üNÏCODE NEEDLE')}`)).toEqual(
      fitting((entry) => JSON.stringify(entry).includes('Ünïcode needle')),
    );
    const from = entries[4]?.at ?? '';
    expect(await seqs(gateway, `from=${from}&per_page=1000`)).toEqual(fitting((entry) => entry.at >= from));
    const paged: number[] = [];
    for (let cursor = ''; ; ) {
      const path = `/api/v1/logs?per_page=3${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`;
      const { body } = await gateway.api.get<Logs>(path, bootstrapKey);
      paged.push(...body.items.map((entry) => entry.seq));
      if (body.next_cursor === null) break;
      cursor = body.next_cursor;
    }
    expect(paged.toReversed()).toEqual(gateway.audit().map((entry) => entry.seq));
    const exported = await fetch(`${gateway.http}/api/v1/logs/export`, {
      headers: { authorization: `Bearer ${bootstrapKey}` },
    });
    const lines = (await exported.text()).trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { seq: number }).seq)).toEqual(
      gateway.audit().map((entry) => entry.seq),
    );
  });

  test('the topology shows who is below whom', async () => {
    const { body } = await gateway.api.get<Overview>('/api/v1/topology/overview?org_id=acme', bootstrapKey);
    expect(body.agents.map(({ agent_id, depth }) => [agent_id, depth])).toEqual(
      expect.arrayContaining([
        ['parent', 0],
        ['child', 1],
      ]),
    );
  });

  test('a suspension outlives the process', async () => {
    await gateway.api.post('/api/v1/agents/acme/core/child/suspend', bootstrapKey, { reason: 'odd \0' });
    await crash();
    expect(await gateway.check(child)).toMatchObject({ decision: 2, reason: 'agent is suspended' });
    await gateway.api.post('/api/v1/agents/acme/core/child/resume', bootstrapKey, {});
    expect(await gateway.check(child)).toMatchObject({ decision: 1 });
  });

  test('with SVC_OPS_DURABLE=false operations are gone after a restart, and only they', async () => {
    const forgetful = { ...options, env: { ...options.env, SVC_OPS_DURABLE: 'false' } };
    await gateway.check(agent, { traceId: 'fleeting', spanId: 's' });
    await gateway.kill('SIGTERM');
    gateway = await store.start(forgetful);
    await expect(gateway.complete(agent, 'fleeting:s')).rejects.toThrow('NOT_FOUND');
    expect(await gateway.check(agent)).toMatchObject({ decision: 1 });
  });
});

/** A cut waits until what has happened in runs is saved, twice a minute. */
const runsSavedTries = 1200;

describe.each(durableStores)('retention on $name', ({ open }) => {
  test('gives up the oldest entries behind a signed cut, and what is left verifies, also after kill -9', async () => {
    await using store = await open();
    const env = { SVC_AUDIT_RETAIN_ENTRIES: '30', SVC_OPS_SWEEP_TICK_SECS: '0.1', SVC_OPS_TTL_SECS: '0.2' };
    const start = () => store.start({ policies: { 'all.yaml': allowAll }, env });
    let gateway = await start();
    const agent = await gateway.register({ agentId: 'a' });
    await gateway.check(agent, { traceId: 'old', spanId: 'op' });
    for (let i = 0; i < 100; i++) await gateway.check(agent);
    await eventually(() => {
      expect(gateway.audit().length).toBeLessThanOrEqual(34);
      expect(verifyChain(gateway.folder).says).toContain('after a signed cut at');
    }, runsSavedTries);
    await gateway.kill('SIGKILL');
    gateway = await start();
    expect(verifyChain(gateway.folder)).toMatchObject({ accepted: true });
    expect(await gateway.complete(agent, 'old:op')).toMatchObject({ state: 'completing' });
    expect((await seqs(gateway, 'event_type=AuditLogCut')).length).toBeGreaterThan(0);
  });
});
