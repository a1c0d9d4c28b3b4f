import type { Problem, RouteOutput, Routes } from '@reeve/contract/http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { CreatedKey } from '../harness/credentials.ts';
import { makeKey } from '../harness/credentials.ts';
import type { Registered } from '../harness/gateway.ts';
import { allowAll, bootstrapKey, checkRequest, TestGateway } from '../harness/gateway.ts';

type Result = RouteOutput<Routes['controlScope']>;
type Report = RouteOutput<Routes['getControl']>;
type Bulk = Extract<Report, { kind: 'bulk' }>;
type List = RouteOutput<Routes['listOps']>;

const options = {
  policies: { 'all.yaml': allowAll },
  env: { SVC_OPS_TTL_SECS: '600', SVC_CONTROL_ACK_SECS: '600', SVC_RATE_LIMIT_API_PER_MIN: '0' },
};

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await TestGateway.start(options);
});
afterAll(() => gateway[Symbol.asyncDispose]());

interface Call {
  readonly bearer?: string;
  readonly key?: string;
  readonly on?: TestGateway;
}

function control<Body = Result>(body: object, { bearer = bootstrapKey, key, on = gateway }: Call = {}) {
  const headers = key === undefined ? {} : { 'idempotency-key': key };
  return on.api.send<Body>('POST', '/api/v1/control', { bearer, json: body, headers });
}

/** Pauses the scope by default. The answer must be a success. */
async function done(body: object, call: Call = {}): Promise<Result> {
  const answer = await control({ action: 'pause', reason: 'as told', ...body }, call);
  expect(answer.status, answer.text).toBe('dry_run' in body ? 200 : 202);
  return answer.body;
}

async function bulkOf(id: string | null, query = '', bearer = bootstrapKey): Promise<Bulk> {
  const answer = await gateway.api.get<Bulk>(`/api/v1/control/${id}?${query}`, bearer);
  expect(answer, answer.text).toMatchObject({ status: 200, body: { kind: 'bulk' } });
  return answer.body;
}

/** The number of an org's operations in each state. */
async function statesOf(orgId: string, on = gateway): Promise<Partial<Record<string, number>>> {
  const entries = ['pending', 'running', 'paused', 'completing', 'terminated'].map(async (state) => {
    const { body } = await on.api.get<List>(`/api/v1/ops?org_id=${orgId}&state=${state}&per_page=1`, bootstrapKey);
    return [state, body.total] as const;
  });
  return Object.fromEntries((await Promise.all(entries)).filter(([, total]) => total > 0));
}

let worlds = 0;

/** Each test has its own org: two teams, three agents, and two running operations per agent. */
interface World {
  readonly org: string;
  readonly agents: Readonly<Record<'red' | 'green' | 'blue', Registered>>;
  readonly admin: CreatedKey;
  readonly writer: CreatedKey;
}

async function makeWorld(on = gateway): Promise<World> {
  const org = `org-${++worlds}`;
  const register = (teamId: string, agentId: string) => on.register({ orgId: org, teamId, agentId });
  const agents = {
    red: await register('one', 'red'),
    green: await register('one', 'green'),
    blue: await register('two', 'blue'),
  };
  for (const [name, agent] of Object.entries(agents)) {
    for (const span of ['a', 'b']) await on.check(agent, { traceId: name, spanId: span, runId: `${org}-run-${span}` });
  }
  const all = { org_id: org, scopes: ['read' as const, 'write' as const, 'admin' as const] };
  return {
    org,
    agents,
    admin: await makeKey(on, { ...all, label: 'the admin' }),
    writer: await makeKey(on, { ...all, scopes: ['read', 'write'] }),
  };
}

let world: World;
beforeEach(async () => {
  world = await makeWorld();
});

describe('scopes', () => {
  test.each<[string, { team_id?: string; agent_id?: string; run_id?: string }, number]>([
    ['an org', {}, 6],
    ['a team', { team_id: 'one' }, 4],
    ['an agent', { agent_id: 'blue' }, 2],
    ['a run', { run_id: 'run-a' }, 3],
    ['a run of a team', { team_id: 'one', run_id: 'run-b' }, 2],
    ['a run of an agent', { agent_id: 'red', run_id: 'run-b' }, 1],
  ])('%s is what the members say together', async (_what, members, changed) => {
    const { run_id: run, ...rest } = members;
    const scope = { org_id: world.org, ...rest, ...(run === undefined ? {} : { run_id: `${world.org}-${run}` }) };
    const result = await done({ scope });
    expect(result).toEqual({ matched: changed, changed, skipped: 0, control_id: expect.stringMatching(/^ctl_/) });
    const { paused = 0, running = 0 } = await statesOf(world.org);
    expect({ paused, running }).toEqual({ paused: changed, running: 6 - changed });
  });

  test('a run alone reaches wherever it runs', async () => {
    expect(await done({ scope: { run_id: `${world.org}-run-a` } })).toMatchObject({ matched: 3, changed: 3 });
  });

  test('"all" reaches everything that the caller may see, and only that', async () => {
    const other = await makeWorld();
    const team = await makeKey(gateway, { org_id: world.org, team_id: 'one', scopes: ['admin'] });
    expect(await done({ scope: { all: true } }, { bearer: team.key })).toMatchObject({ matched: 4, changed: 4 });
    expect(await statesOf(world.org)).toEqual({ paused: 4, running: 2 });
    const result = await done({ scope: { all: true } }, { bearer: world.admin.key });
    // The org takes over what its team has paused.
    expect(result).toMatchObject({ matched: 6, changed: 6, skipped: 0 });
    expect(await statesOf(other.org)).toEqual({ running: 6 });
    const everything = await done({ scope: { all: true }, action: 'terminate' });
    expect(everything.matched).toBeGreaterThanOrEqual(12);
    expect(await statesOf(world.org)).toEqual({ terminated: 6 });
    expect(await statesOf(other.org)).toEqual({ terminated: 6 });
  });

  test('what others have is not in scope, however it is named, and cannot be told from what nobody has', async () => {
    const other = await makeWorld();
    const entries = gateway.audit().length;
    for (const scope of [
      { org_id: other.org },
      { org_id: other.org, team_id: 'one' },
      { org_id: other.org, run_id: `${other.org}-run-a` },
      { org_id: world.org, team_id: 'one', agent_id: 'blue' },
      { org_id: 'nobody' },
    ]) {
      for (const dry_run of [true, false]) {
        const body = { action: 'pause', reason: '', scope, dry_run };
        const answer = await control(body, { bearer: world.admin.key });
        expect(answer).toMatchObject({ status: 404, body: { code: 'scope_not_found' } });
      }
    }
    const result = await done({ scope: { run_id: `${other.org}-run-a` } }, { bearer: world.admin.key });
    expect(result).toMatchObject({ matched: 0, changed: 0, skipped: 0 });
    expect((await gateway.api.get(`/api/v1/control/${result.control_id}`, other.admin.key)).status).toBe(404);
    expect(await statesOf(other.org)).toEqual({ running: 6 });
    const noted = gateway.audit().slice(entries);
    expect(noted.every(({ lineage }) => lineage.org_id !== other.org)).toBe(true);
  });

  test('those that are over are not in scope; those in another state are skipped', async () => {
    const { red, green } = world.agents;
    await gateway.complete(red, 'red:a');
    await gateway.api.post(`/api/v1/ops/${world.org}%2Fone%2Fgreen%2Fgreen:a/terminate`, bootstrapKey);
    await gateway.api.post(`/api/v1/ops/${world.org}%2Fone%2Fgreen%2Fgreen:b/pause`, bootstrapKey);
    const agent = { org_id: world.org, team_id: 'one', agent_id: green.id.agentId };
    await gateway.api.post('/api/v1/ops', bootstrapKey, { agent, trace_id: 'waits', span_id: 's' });
    expect(await statesOf(world.org)).toEqual({ pending: 1, running: 3, paused: 1, completing: 1, terminated: 1 });
    expect(await done({ scope: { org_id: world.org } })).toMatchObject({ matched: 5, changed: 3, skipped: 2 });
    expect(await done({ scope: { org_id: world.org }, action: 'resume' })).toMatchObject({ matched: 5, changed: 4 });
    expect(await done({ scope: { org_id: world.org }, action: 'terminate' })).toMatchObject({ matched: 5, changed: 5 });
    expect(await statesOf(world.org)).toEqual({ completing: 1, terminated: 6 });
    const nothing = await done({ scope: { org_id: world.org }, action: 'terminate' });
    expect(nothing).toMatchObject({ matched: 0, changed: 0, skipped: 0 });
  });

  test.each([
    ['no scope', { scope: undefined }, '/scope'],
    ['an empty scope', { scope: {} }, '/scope'],
    ['nothing but nulls', { scope: { org_id: null } }, '/scope/org_id'],
    ['not all', { scope: { all: false } }, '/scope/all'],
    ['all and an org', { scope: { all: true, org_id: 'acme' } }, '/scope'],
    ['an unknown member of the scope', { scope: { org: 'acme' } }, '/scope/org'],
    ['a list of scopes', { scope: [{ all: true }] }, '/scope'],
    ['an empty agent', { scope: { agent_id: '' } }, '/scope/agent_id'],
    ['an empty run', { scope: { run_id: '' } }, '/scope/run_id'],
    ['no action', { action: undefined }, '/action'],
    ['an unknown action', { action: 'stop' }, '/action'],
    ['no reason', { reason: undefined }, '/reason'],
    ['a reason of 8,193 characters', { reason: 'x'.repeat(8193) }, '/reason'],
    ['a reason of 10,000 characters', { reason: 'x'.repeat(10_000) }, '/reason'],
    ['a dry run that is neither', { dry_run: 'yes' }, '/dry_run'],
    ['an unknown member', { force: true }, '/force'],
  ])('%s is refused, and nothing is done', async (_what, change, pointer) => {
    const entries = gateway.audit().length;
    const body = { action: 'terminate', scope: { org_id: world.org }, reason: 'x', ...change };
    const answer = await control<Problem>(body);
    expect(answer).toMatchObject({ status: 422, body: { code: 'validation_failed' } });
    expect(answer.body.errors?.map((error) => error.pointer)).toContain(pointer);
    expect(gateway.audit()).toHaveLength(entries);
    expect(await statesOf(world.org)).toEqual({ running: 6 });
  });
});

test('a dry run tells what would be, and changes, records and remembers nothing', async () => {
  const entries = gateway.audit().length;
  const body = { action: 'pause', scope: { org_id: world.org, team_id: 'one' }, reason: 'what if', dry_run: true };
  const key = `dry-${world.org}`;
  for (let times = 0; times < 2; times++) {
    const answer = await control(body, { key });
    expect(answer).toMatchObject({ status: 200, body: { matched: 4, changed: 4, skipped: 0, control_id: null } });
  }
  expect(gateway.audit()).toHaveLength(entries);
  expect(await statesOf(world.org)).toEqual({ running: 6 });
  expect(await control({ ...body, dry_run: false }, { key })).toMatchObject({ status: 202, body: { changed: 4 } });
});

test('a whole org and "all" are for admins; less than that is for those who may write', async () => {
  const { key: bearer } = world.writer;
  const reader = await makeKey(gateway, { org_id: world.org, scopes: ['read'] });
  for (const scope of [{ all: true }, { org_id: world.org }]) {
    for (const dry_run of [true, false]) {
      const refused = await control<Problem>({ action: 'pause', scope, reason: 'x', dry_run }, { bearer });
      expect(refused).toMatchObject({ status: 403, body: { code: 'insufficient_scope', required_scope: 'admin' } });
    }
  }
  const scope = { team_id: 'two' };
  const read = await control<Problem>({ action: 'pause', scope, reason: 'x' }, { bearer: reader.key });
  expect(read).toMatchObject({ status: 403, body: { required_scope: 'write' } });
  expect(await statesOf(world.org)).toEqual({ running: 6 });
  expect(await done({ scope }, { bearer })).toMatchObject({ matched: 2, changed: 2 });
  expect(await done({ scope: { org_id: world.org, agent_id: 'red' } }, { bearer })).toMatchObject({ changed: 2 });
});

describe('what was done', () => {
  test('is one entry for the request and one for each operation, by the caller', async () => {
    const entries = gateway.audit().length;
    const { control_id: id } = await done({ scope: { team_id: 'one' }, reason: 'calm' }, { bearer: world.admin.key });
    const actor = { kind: 'api_key', id: world.admin.id, label: 'the admin' };
    const noted = gateway.audit().slice(entries);
    expect(noted).toHaveLength(5);
    expect(noted[0]).toMatchObject({
      event_type: 'OpControlRequested',
      actor,
      reason: 'calm',
      lineage: { org_id: world.org },
      payload: { action: 'pause', control_id: id, matched: 4, changed: 4, skipped: 0, scope: { team_id: 'one' } },
    });
    for (const entry of noted.slice(1)) {
      expect(entry).toMatchObject({
        event_type: 'OpStateChanged',
        actor,
        reason: 'calm',
        payload: { from: 'running', to: 'paused', trigger: 'pause' },
      });
    }
  });

  test('is read by its id: the numbers by status, and the receipts page by page', async () => {
    const { control_id: id } = await done(
      { scope: { org_id: world.org }, reason: 'look' },
      { bearer: world.admin.key },
    );
    const bulk = await bulkOf(id);
    expect(bulk).toMatchObject({
      id,
      action: 'pause',
      actor: { kind: 'api_key', id: world.admin.id },
      reason: 'look',
      scope: { org_id: world.org },
      matched: 6,
      changed: 6,
      skipped: 0,
      done: true,
      counts: { requested: 6, delivered: 0, acked: 0, effective: 0, failed: 0, unconfirmed: 0 },
      total: 6,
      next_cursor: null,
    });
    expect(bulk.receipts).toHaveLength(6);
    for (const receipt of bulk.receipts) {
      expect(receipt).toMatchObject({
        kind: 'receipt',
        bulk_id: id,
        status: 'requested',
        agent: { org_id: world.org },
      });
      const one = await gateway.api.get<Report>(`/api/v1/control/${receipt.id}`, world.admin.key);
      expect(one.body).toEqual(receipt);
      const full = `${receipt.agent.org_id}/${receipt.agent.team_id}/${receipt.agent.agent_id}/${receipt.op_id}`;
      const op = await gateway.api.get(`/api/v1/ops/${encodeURIComponent(full)}`, world.admin.key);
      expect(op.body).toMatchObject({ state: 'paused', control: { id: receipt.id } });
    }
    const first = await bulkOf(id, 'per_page=4');
    expect(first).toMatchObject({ total: 6, counts: { requested: 6 } });
    const second = await bulkOf(id, `per_page=4&cursor=${first.next_cursor}`);
    expect([...first.receipts, ...second.receipts]).toEqual(bulk.receipts);
    expect(second.next_cursor).toBeNull();
    expect((await gateway.api.get(`/api/v1/control/${id}?cursor=x`, bootstrapKey)).status).toBe(422);
  });

  test('is shown to its own tenant only', async () => {
    const other = await makeWorld();
    const team = await makeKey(gateway, { org_id: world.org, team_id: 'two', scopes: ['admin'] });
    const { control_id: mine } = await done({ scope: { team_id: 'one' } }, { bearer: world.admin.key });
    const { control_id: wide } = await done({ scope: { run_id: `${world.org}-run-a` } });
    for (const [id, key] of [
      [mine, other.admin.key],
      [wide, other.admin.key],
      [mine, team.key],
    ] as const) {
      const answer = await gateway.api.get(`/api/v1/control/${id}`, key);
      expect(answer).toMatchObject({ status: 404, body: { code: 'control_not_found' } });
    }
    expect((await bulkOf(mine, '', world.admin.key)).total).toBe(4);
    // The org had paused two of these three operations. They are the operator's now.
    expect((await bulkOf(wide)).total).toBe(3);
  });
});

describe('an idempotency key', () => {
  const body = () => ({ action: 'pause', scope: { org_id: world.org, team_id: 'one' }, reason: 'once' });

  test('makes the same request act once, and answers it alike', async () => {
    const key = `same-${world.org}`;
    const first = await control(body(), { key });
    const entries = gateway.audit().length;
    await gateway.api.post(`/api/v1/ops/${world.org}%2Fone%2Fred%2Fred:a/resume`, bootstrapKey);
    const again = await control(body(), { key });
    expect(again).toMatchObject({ status: 202, body: first.body });
    expect(gateway.audit()).toHaveLength(entries + 2);
    expect(await statesOf(world.org)).toEqual({ paused: 3, running: 3 });
    expect((await control(body(), { key: `other-${world.org}` })).body).toMatchObject({ matched: 4, changed: 1 });
  });

  test('holds for requests at the same moment', async () => {
    const key = `race-${world.org}`;
    const answers = await Promise.all(Array.from({ length: 8 }, () => control(body(), { key })));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers[0]?.body).toMatchObject({ matched: 4, changed: 4 });
    const asked = gateway.audit().filter(({ payload }) => payload['control_id'] === answers[0]?.body.control_id);
    expect(asked).toHaveLength(1);
  });

  test('that was used for another request is refused', async () => {
    const key = `conflict-${world.org}`;
    await control(body(), { key });
    for (const other of [
      { ...body(), action: 'terminate' },
      { ...body(), reason: 'another' },
      { ...body(), scope: { org_id: world.org, team_id: 'two' } },
    ]) {
      expect(await control(other, { key })).toMatchObject({ status: 409, body: { code: 'idempotency_conflict' } });
    }
    expect(await statesOf(world.org)).toEqual({ paused: 4, running: 2 });
  });

  test('belongs to the credential', async () => {
    const key = `mine-${world.org}`;
    await control(body(), { key });
    const other = { ...body(), action: 'terminate' };
    expect(await control(other, { key, bearer: world.admin.key })).toMatchObject({ status: 202, body: { changed: 4 } });
  });

  test.each(['', 'x'.repeat(256), 'two words', 'tab\there', 'é'])('%j is not one', async (key) => {
    const answer = await control<Problem>(body(), { key });
    expect(answer).toMatchObject({ status: 422, body: { errors: [{ pointer: '/headers/idempotency-key' }] } });
    expect(await statesOf(world.org)).toEqual({ running: 6 });
  });

  test('is remembered over a restart', async () => {
    await using first = await TestGateway.start(options);
    const { org } = await makeWorld(first);
    const request = { action: 'pause', scope: { org_id: org }, reason: 'once' };
    const before = await control(request, { key: 'a-key', on: first });
    await using second = await first.restart('SIGKILL', { env: options.env });
    const entries = second.audit().length;
    expect(await control(request, { key: 'a-key', on: second })).toMatchObject({ status: 202, body: before.body });
    expect(second.audit()).toHaveLength(entries);
    const other = await control({ ...request, reason: 'twice' }, { key: 'a-key', on: second });
    expect(other).toMatchObject({ status: 409, body: { code: 'idempotency_conflict' } });
  });
});

describe('a few thousand operations', () => {
  const count = 3000;

  async function checkMany(agent: Registered, prefix: string): Promise<void> {
    for (let start = 0; start < count; start += 1000) {
      const requests = Array.from({ length: 1000 }, (_, i) =>
        checkRequest(agent, { traceId: `${prefix}-${start + i}`, spanId: 's' }),
      );
      const responses = await gateway.batch(requests);
      expect(responses.every(({ decision }) => decision === 1)).toBe(true);
    }
  }

  test('are controlled while other tenants are answered, and what begins meanwhile is left alone', async () => {
    const other = await makeWorld();
    const { red } = world.agents;
    await checkMany(red, 'many');
    const entries = gateway.audit().length;
    const progress = { isDone: false, others: 0, meanwhile: 0, late: 0 };
    const bulk = done({ scope: { org_id: world.org }, action: 'terminate' }).finally(() => (progress.isDone = true));
    while (!progress.isDone) {
      expect(await gateway.check(other.agents.red)).toMatchObject({ decision: 1 });
      progress.others++;
      if (!progress.isDone) progress.meanwhile++;
      await gateway.check(red);
      progress.late++;
    }
    const result = await bulk;
    expect(progress.meanwhile).toBeGreaterThan(0);
    expect(result).toMatchObject({ changed: result.matched, skipped: 0 });
    expect(result.matched).toBeGreaterThanOrEqual(count + 6);
    // Of the late operations, the scope has only those that came before the control looked.
    const { terminated, running = 0 } = await statesOf(world.org);
    expect(terminated).toBe(result.matched);
    expect(running).toBe(count + 6 + progress.late - result.matched);
    expect(await statesOf(other.org)).toEqual({ running: 6 + progress.others });
    const noted = gateway.audit().slice(entries);
    expect(noted.filter(({ event_type }) => event_type === 'OpControlRequested')).toHaveLength(1);
    const moves = noted.filter(({ event_type }) => event_type === 'OpStateChanged');
    expect(moves).toHaveLength(result.changed);
    expect(new Set(moves.map(({ op_id }) => op_id)).size).toBeLessThanOrEqual(result.changed);
    const report = await bulkOf(result.control_id, 'per_page=1000');
    expect(report).toMatchObject({ done: true, total: result.changed, matched: result.matched });
    expect(report.receipts).toHaveLength(1000);
  });

  test('by two operators at the same moment end where the stronger wants, and each is told what it changed', async () => {
    await checkMany(world.agents.blue, 'both');
    const entries = gateway.audit().length;
    const scope = { org_id: world.org };
    const [paused, terminated] = await Promise.all([done({ scope }), done({ scope, action: 'terminate' })]);
    expect(terminated).toMatchObject({ matched: count + 6, changed: count + 6 });
    expect(paused.changed + paused.skipped).toBe(paused.matched);
    expect(await statesOf(world.org)).toEqual({ terminated: count + 6 });
    const moves = gateway
      .audit()
      .slice(entries)
      .filter(({ event_type }) => event_type === 'OpStateChanged');
    expect(moves).toHaveLength(paused.changed + terminated.changed);
  });
});
