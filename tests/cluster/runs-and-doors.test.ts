import { Via_Door as Door } from '@reeve/contract';
import type { RouteOutput, Routes } from '@reeve/contract/http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeKey } from '../harness/credentials.ts';
import { eventually } from '../harness/eventually.ts';
import type { Registered, TestGateway } from '../harness/gateway.ts';
import { bootstrapKey } from '../harness/gateway.ts';
import type { Pair } from './pair.ts';
import { startPair } from './pair.ts';

type Op = RouteOutput<Routes['getOp']>;
type Agent = RouteOutput<Routes['getAgent']>;

let pair: Pair;
let agent: Registered;
beforeAll(async () => {
  pair = await startPair();
  agent = await pair.one.register({ agentId: 'worker' });
});
afterAll(() => pair[Symbol.asyncDispose]());

function control({ api }: TestGateway, action: string, run: string) {
  return api.post('/api/v1/control', bootstrapKey, { action, scope: { run_id: run }, reason: 'as told' });
}

test('a run that is stopped at one gateway is stopped at the other, from the answer on', async () => {
  const { one, two } = pair;
  for (let round = 0; round < 10; round++) {
    const runId = `run-${round}`;
    const [here, there] = round % 2 === 0 ? [one, two] : [two, one];
    expect((await here.check(agent, { runId })).policyRule).toBe('default');
    // Checks at the other gateway go on meanwhile: none that is answered after the stop is allowed.
    const busy = Array.from({ length: 5 }, () => there.check(agent, { runId }));
    expect((await control(here, 'terminate', runId)).status).toBe(202);
    expect(await there.check(agent, { runId })).toMatchObject({ reason: 'run is terminated', policyRule: 'control' });
    await Promise.all(busy);
    const { body } = await there.api.get<{ total: number }>(`/api/v1/ops?run_id=${runId}&state=running`, bootstrapKey);
    expect(body.total).toBe(0);
    expect((await control(there, 'resume', runId)).status).toBe(202);
    expect((await here.check(agent, { runId })).policyRule).toBe('default');
  }
});

test('whose agent has left at one gateway lifts nothing that held it at the other', async () => {
  const { one, two } = pair;
  const [registrar, sibling] = [
    await makeKey(one, { org_id: 'acme', scopes: ['read', 'write'] }),
    await makeKey(one, { org_id: 'acme', scopes: ['read', 'write'] }),
  ];
  const id = { orgId: 'acme', teamId: 'core', agentId: 'own' };
  const agentOf = { org_id: id.orgId, team_id: id.teamId, agent_id: id.agentId };
  for (const [here, there] of [
    [one, two],
    [two, one],
  ] as const) {
    const made = await here.api.post<{ token: string }>('/api/v1/agents', registrar.key, agentOf);
    const control = { action: 'pause', scope: { run_id: 'left' }, reason: 'as told' };
    expect((await there.api.post('/api/v1/control', sibling.key, control)).status).toBe(202);
    await here.deregister({ id, token: made.body.token });
    const resume = { ...control, action: 'resume' };
    const refused = await there.api.post('/api/v1/control', registrar.key, resume);
    expect(refused).toMatchObject({ status: 403, body: { code: 'own_agent' } });
    expect((await here.api.post('/api/v1/control', sibling.key, resume)).status).toBe(202);
  }
});

test('when a door was first used is the same at both, as soon as it was', async () => {
  const { one, two } = pair;
  const doorsAt = async ({ api }: TestGateway, agentId: string) => {
    const { body } = await api.get<Agent>(`/api/v1/agents/acme/core/${agentId}`, bootstrapKey);
    return body.doors.map(({ door, first_used_at: at }) => [door, at]);
  };
  for (let round = 0; round < 5; round++) {
    const newcomer = await one.register({ agentId: `newcomer-${round}` });
    // Both at once: one of the decisions is made again on top of the other.
    const checks = [one, two].map((gateway) => gateway.check(newcomer, { via: { door: Door.MCP, name: 'github' } }));
    await Promise.all(checks);
    const [here, there] = [await doorsAt(one, `newcomer-${round}`), await doorsAt(two, `newcomer-${round}`)];
    expect(here).toEqual([['mcp', expect.any(String)]]);
    expect(there).toEqual(here);
  }
});

test('doors of operations and agents are the same at both', async () => {
  const { one, two } = pair;
  await one.check(agent, { traceId: 'd', spanId: '1', via: { door: Door.MCP, name: 'github' } });
  await two.check(agent, { traceId: 'd', spanId: '2', via: { door: Door.HOOK, name: 'codex' } });
  for (const { api } of [one, two]) {
    const vias = ['d:1', 'd:2'].map(async (id) => (await api.get<Op>(`/api/v1/ops/${id}`, bootstrapKey)).body.via);
    expect(await Promise.all(vias)).toEqual([
      { door: 'mcp', name: 'github' },
      { door: 'hook', name: 'codex' },
    ]);
    await eventually(async () => {
      const { body } = await api.get<Agent>('/api/v1/agents/acme/core/worker', bootstrapKey);
      expect(body.doors.map(({ door, names }) => [door, ...names])).toEqual([
        ['sdk'],
        ['mcp', 'github'],
        ['hook', 'codex'],
      ]);
    });
  }
});
