import type { Problem, RouteOutput, Routes } from '@reeve/contract/http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeKey } from '../harness/credentials.ts';
import { TestHome } from '../harness/cli.ts';
import type { Registered } from '../harness/gateway.ts';
import { allowAll, bootstrapKey, TestGateway } from '../harness/gateway.ts';

type Result = RouteOutput<Routes['controlScope']>;
type Held = RouteOutput<Routes['listRunControls']>;

const options = { policies: { 'all.yaml': allowAll }, env: { SVC_RATE_LIMIT_API_PER_MIN: '0' } };

let gateway: TestGateway;
let agents: Readonly<Record<'red' | 'blue' | 'foreign', Registered>>;
beforeAll(async () => {
  gateway = await TestGateway.start(options);
  agents = {
    red: await gateway.register({ teamId: 'one', agentId: 'red' }),
    blue: await gateway.register({ teamId: 'two', agentId: 'blue' }),
    foreign: await gateway.register({ orgId: 'umbrella', teamId: 'one', agentId: 'red' }),
  };
});
afterAll(() => gateway[Symbol.asyncDispose]());

function control<Body = Result>(action: string, scope: object, bearer = bootstrapKey) {
  const json = { action, scope, reason: 'as told' };
  return gateway.api.send<Body>('POST', '/api/v1/control', { bearer, json });
}

async function asked(agent: Registered, runId: string): Promise<string> {
  const { reason, policyRule } = await gateway.check(agent, { runId });
  return policyRule === 'control' ? reason : policyRule;
}

function held(bearer = bootstrapKey, query = '') {
  return gateway.api.get<Held>(`/api/v1/runs/controls?${query}`, bearer);
}

test('a run that was stopped stays stopped, over kills, until somebody resumes it', async () => {
  await gateway.check(agents.red, { traceId: 't', spanId: 's', runId: 'r1' });
  const stopped = await control('terminate', { run_id: 'r1' });
  expect(stopped).toMatchObject({ status: 202, body: { matched: 1, changed: 1, skipped: 0 } });
  expect(await asked(agents.red, 'r1')).toBe('run is terminated');
  const { opId } = await gateway.check(agents.red, { runId: 'r1' });
  const explained = await gateway.api.get<{ notes: string[] }>(`/api/v1/decisions/${opId}/explain`, bootstrapKey);
  expect(explained.body).toMatchObject({ decision: 'deny', policy_rule: 'control', reason: 'run is terminated' });
  expect(explained.body.notes).toContain('no rule decided this: somebody had stopped the run');
  gateway = await gateway.restart('SIGKILL', options);
  expect(await asked(agents.red, 'r1')).toBe('run is terminated');
  expect(await asked(agents.red, 'r2')).toBe('default');
  expect(await asked(agents.red, '')).toBe('default');
  expect((await held()).body).toMatchObject({
    total: 1,
    items: [
      {
        run_id: 'r1',
        action: 'terminate',
        org_id: null,
        control_id: stopped.body.control_id,
        last_refused_at: expect.stringMatching(/Z$/) as string,
      },
    ],
  });
  expect((await control('resume', { run_id: 'r1' })).status).toBe(202);
  expect(await asked(agents.red, 'r1')).toBe('default');
  gateway = await gateway.restart('SIGKILL', options);
  expect(await asked(agents.red, 'r1')).toBe('default');
  expect((await held()).body).toMatchObject({ total: 0, items: [] });
});

describe('tenants', () => {
  test('a bound credential stops a run in its own tenant, sees that and lifts it; nobody else’s', async () => {
    const acme = await makeKey(gateway, { org_id: 'acme', scopes: ['read', 'write'] });
    const team = await makeKey(gateway, { org_id: 'acme', team_id: 'one', scopes: ['read', 'write'] });
    const umbrella = await makeKey(gateway, { org_id: 'umbrella', scopes: ['read', 'write'] });
    await control('pause', { run_id: 'r3' }, acme.key);
    const states = async () => {
      const { red, blue, foreign } = agents;
      return [await asked(red, 'r3'), await asked(blue, 'r3'), await asked(foreign, 'r3')];
    };
    expect(await states()).toEqual(['run is paused', 'run is paused', 'default']);
    expect((await held(acme.key)).body.total).toBe(1);
    expect((await held(team.key)).body.total).toBe(0);
    expect((await held(umbrella.key)).body.total).toBe(0);
    expect((await held(bootstrapKey, 'org_id=umbrella')).body.total).toBe(0);
    const refused = await control<Problem>('resume', { run_id: 'r3' }, team.key);
    expect(refused).toMatchObject({ status: 403, body: { code: 'imposed_by_wider' } });
    // It has nothing to say there, and learns nothing.
    expect((await control('resume', { run_id: 'r3' }, umbrella.key)).status).toBe(202);
    expect(await states()).toEqual(['run is paused', 'run is paused', 'default']);
    expect((await control('resume', { run_id: 'r3' }, acme.key)).status).toBe(202);
    expect(await states()).toEqual(['default', 'default', 'default']);
  });

  test('a credential does not free its agent by letting it leave and come back, not even over a kill', async () => {
    const [stopper, registrar] = [
      await makeKey(gateway, { org_id: 'acme', scopes: ['read', 'write'] }),
      await makeKey(gateway, { org_id: 'acme', team_id: 'one', scopes: ['read', 'write'] }),
    ];
    const sibling = await makeKey(gateway, { org_id: 'acme', team_id: 'one', scopes: ['read', 'write'] });
    const register = async (): Promise<Registered> => {
      const id = { orgId: 'acme', teamId: 'one', agentId: 'own' };
      const agent = { org_id: id.orgId, team_id: id.teamId, agent_id: id.agentId };
      const { body } = await gateway.api.post<{ token: string }>('/api/v1/agents', registrar.key, agent);
      return { id, token: body.token };
    };
    const own = await register();
    await control('pause', { run_id: 'r5' }, sibling.key);
    expect(await asked(own, 'r5')).toBe('run is paused');
    await gateway.deregister(own);
    const refused = await control<Problem>('resume', { run_id: 'r5' }, registrar.key);
    expect(refused).toMatchObject({ status: 403, body: { code: 'own_agent' } });
    gateway = await gateway.restart('SIGKILL', options);
    expect((await control<Problem>('resume', { run_id: 'r5' }, registrar.key)).status).toBe(403);
    const back = await register();
    expect(await asked(back, 'r5')).toBe('run is paused');
    expect((await control('resume', { run_id: 'r5' }, stopper.key)).status).toBe(202);
    expect(await asked(back, 'r5')).toBe('default');
  });

  test('no cursor but one of this list is taken, and pages go on', async () => {
    for (const run of ['p1', 'p2', 'p3']) await control('pause', { run_id: run });
    const first = await held(bootstrapKey, 'per_page=2');
    expect(first.body).toMatchObject({ total: 3, items: [{ run_id: 'p3' }, { run_id: 'p2' }] });
    const rest = await held(bootstrapKey, `per_page=2&cursor=${first.body.next_cursor}`);
    expect(rest.body).toMatchObject({ next_cursor: null, items: [{ run_id: 'p1' }] });
    expect((await held(bootstrapKey, 'cursor=nonsense')).status).toBe(422);
    for (const run of ['p1', 'p2', 'p3']) await control('resume', { run_id: run });
  });
});

test('the command says what becomes of later checks, also if nothing is in flight', async () => {
  using home = new TestHome();
  const env = { REEVE_API_URL: gateway.http, REEVE_API_KEY: bootstrapKey };
  const stop = (...args: string[]) => home.run(['stop', '--run', 'r4', ...args], { env });
  const preview = await stop('--action', 'terminate', '--dry-run');
  expect(preview.stdout).toContain('Later checks of the run would be denied, until it is resumed.');
  expect((await held(bootstrapKey, 'run_id=r4')).body.total).toBe(0);
  const stopped = await stop('--action', 'terminate', '--yes');
  expect(stopped.stdout).toContain('Later checks of run r4 are denied, until it is resumed.');
  expect(stopped.code).toBe(0);
  expect(await asked(agents.red, 'r4')).toBe('run is terminated');
  const resumed = await stop('--action', 'resume', '--yes');
  expect(resumed.stdout).toContain('Later checks of run r4 are decided by policy again.');
  expect(await asked(agents.red, 'r4')).toBe('default');
});

test('one credential holds at most 5,000 runs: further ones are refused, and none of the held is given up', async () => {
  const [one, other] = [
    await makeKey(gateway, { scopes: ['write'], org_id: 'acme' }),
    await makeKey(gateway, { scopes: ['write'], org_id: 'acme' }),
  ];
  const runs = Array.from({ length: 5000 }, (_, at) => `many-${at}`);
  for (let at = 0; at < runs.length; at += 100) {
    const some = runs.slice(at, at + 100).map((run) => control('pause', { run_id: run }, one.key));
    for (const { status } of await Promise.all(some)) expect(status).toBe(202);
  }
  const refused = await control<Problem>('terminate', { run_id: 'one-more' }, one.key);
  expect(refused).toMatchObject({ status: 409, body: { code: 'too_many_held_runs' } });
  expect(refused.body.detail).toContain('resume runs that no longer need it; what must stop now: suspend the agent');
  expect(await asked(agents.red, 'one-more')).toBe('default');
  expect(await asked(agents.red, 'many-0')).toBe('run is paused');
  expect((await control('terminate', { run_id: 'one-more' }, other.key)).status).toBe(202);
  const { text } = await gateway.api.get('/metrics');
  expect(text).toMatch(/^reeve_held_runs_of_one_binding 5001$/m);
  expect(Number(/^reeve_held_runs (\d+)$/m.exec(text)?.[1])).toBeGreaterThanOrEqual(5001);
  expect(Number(/^reeve_store_wal_bytes (\d+)$/m.exec(text)?.[1])).toBeGreaterThan(0);
  expect((await control('resume', { run_id: 'many-1' }, one.key)).status).toBe(202);
  expect((await control('terminate', { run_id: 'two-more' }, one.key)).status).toBe(202);
  expect(await asked(agents.red, 'two-more')).toBe('run is terminated');
}, 180_000);
