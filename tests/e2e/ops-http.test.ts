import type { Problem, RouteOutput, Routes } from '@reeve/contract/http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HttpAnswer } from '../harness/http-client.ts';
import { makeKey } from '../harness/credentials.ts';
import type { Registered } from '../harness/gateway.ts';
import { allowAll, bootstrapKey, TestGateway, toolCall } from '../harness/gateway.ts';

type Op = RouteOutput<Routes['getOp']>;
type Controlled = RouteOutput<Routes['pauseOp']>;
type List = RouteOutput<Routes['listOps']>;
type Receipt = Extract<RouteOutput<Routes['getControl']>, { kind: 'receipt' }>;

const policy = `${allowAll}rules:\n  - {name: no, effect: deny, tools: [forbidden]}\n`;
const operator = { kind: 'api_key', id: 'abcdefghijkl', label: 'bootstrap' };

let gateway: TestGateway;
let agent: Registered;
beforeAll(async () => {
  // Nothing is swept or becomes unconfirmed during the test.
  const env = { SVC_OPS_TTL_SECS: '600', SVC_CONTROL_ACK_SECS: '600', SVC_RATE_LIMIT_API_PER_MIN: '0' };
  gateway = await TestGateway.start({ policies: { 'ops.yaml': policy }, env });
  agent = await gateway.register({ agentId: 'worker' });
});
afterAll(() => gateway[Symbol.asyncDispose]());

let made = 0;

/** Ids that no other test uses. */
function newIds(): { traceId: string; spanId: string; opId: string } {
  const traceId = `trace-${++made}`;
  return { traceId, spanId: 'span', opId: `${traceId}:span` };
}

const pathOf = (id: string) => `/api/v1/ops/${encodeURIComponent(id)}`;
const triple = ({ id }: Registered) => ({ org_id: id.orgId, team_id: id.teamId, agent_id: id.agentId });

function post<Body = never>(path: string, json?: unknown, bearer = bootstrapKey): Promise<HttpAnswer<Body>> {
  return gateway.api.post<Body>(path, bearer, json);
}

function register(ids: { traceId: string; spanId: string }, of = agent, bearer = bootstrapKey) {
  const body = { agent: triple(of), trace_id: ids.traceId, span_id: ids.spanId };
  return post<Op>('/api/v1/ops', body, bearer);
}

async function read(id: string, bearer = bootstrapKey): Promise<Op> {
  const answer = await gateway.api.get<Op>(pathOf(id), bearer);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

/** A new operation in a state. */
async function opIn(state: Op['state'], of = agent): Promise<string> {
  const ids = newIds();
  if (state === 'pending') await register(ids, of);
  else await gateway.check(of, ids);
  const verb = { pending: '', running: '', paused: 'pause', completing: 'complete', terminated: 'terminate' }[state];
  if (verb !== '') expect((await post(`${pathOf(ids.opId)}/${verb}`)).status).toBeLessThan(300);
  expect((await read(ids.opId)).state).toBe(state);
  return ids.opId;
}

describe('one operation', () => {
  test('is shown with all that is known of it', async () => {
    const ids = newIds();
    await gateway.check(agent, {
      ...ids,
      context: toolCall('search', { q: 1 }),
      runId: 'run-1',
      summary: 'looks something up',
      estimatedCostMicros: 1200,
    });
    const op = await read(ids.opId);
    expect(op).toEqual({
      op_id: ids.opId,
      state: 'running',
      registered_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updated_at: expect.stringMatching(/Z$/),
      agent: { org_id: 'acme', team_id: 'core', agent_id: 'worker' },
      action_type: 'tool_call',
      resource: 'search',
      summary: 'looks something up',
      run_id: 'run-1',
      via: null,
      reason: op.reason,
      cost_micros: 1200,
      input_tokens: null,
      output_tokens: null,
      cached_input_tokens: null,
      actor: null,
      control: null,
      stale: false,
      floor: false,
    });
  });

  test.each([
    'no:such',
    'nonsense',
    'acme/core/worker/no:such',
    'acme/core/nobody/trace-1:span',
    'a/b',
    '%',
    'é:ü',
    '..',
  ])('%j is not found, by any route', async (id) => {
    const missing = { status: 404, body: { code: 'op_not_found' } };
    expect(await gateway.api.get(pathOf(id).replace('/..', '/%2e%2e%2fx'), bootstrapKey)).toMatchObject(missing);
    for (const verb of ['pause', 'resume', 'terminate', 'complete']) {
      expect(await post(`${pathOf(id === '..' ? '../x' : id)}/${verb}`)).toMatchObject(missing);
    }
  });
});

describe('registering an operation', () => {
  test('makes it pending, with one entry by the caller; again it is answered as it is', async () => {
    const ids = newIds();
    const entries = gateway.audit().length;
    const body = { agent: triple(agent), trace_id: ids.traceId, span_id: ids.spanId, summary: 'to come' };
    const first = await post<Op>('/api/v1/ops', body);
    expect(first.status).toBe(201);
    expect(first.body).toMatchObject({ op_id: ids.opId, state: 'pending', summary: 'to come', action_type: null });
    expect(gateway.audit().slice(entries)).toMatchObject([
      {
        event_type: 'OpStateChanged',
        actor: operator,
        op_id: ids.opId,
        lineage: { org_id: 'acme', team_id: 'core', agent_id: 'worker' },
        payload: { from: null, to: 'pending', trigger: 'register' },
      },
    ]);
    const again = await post<Op>('/api/v1/ops', { ...body, summary: 'another' });
    expect(again).toMatchObject({ status: 200, body: first.body });
    expect(gateway.audit()).toHaveLength(entries + 1);
  });

  test('both ids empty: the gateway makes them up', async () => {
    const { status, body } = await register({ traceId: '', spanId: '' });
    expect(status).toBe(201);
    expect(body.op_id).toMatch(/^[0-9a-f]{32}:[0-9a-f]{16}$/);
  });

  test('its first check decides it, and keeps when it was first seen', async () => {
    const [allowed, denied] = [newIds(), newIds()];
    const { body } = await register(allowed);
    expect(await gateway.check(agent, allowed)).toMatchObject({ decision: 1, opState: 'running', opId: allowed.opId });
    expect(await read(allowed.opId)).toMatchObject({ state: 'running', registered_at: body.registered_at });
    await register(denied);
    expect(await gateway.check(agent, { ...denied, context: toolCall('forbidden') })).toMatchObject({ decision: 2 });
    expect(await read(denied.opId)).toMatchObject({ state: 'terminated' });
  });

  test.each([
    ['no body', undefined, '/agent'],
    ['no agent', { trace_id: 't', span_id: 's' }, '/agent'],
    ['half an agent', { agent: { agent_id: 'worker' }, trace_id: 't', span_id: 's' }, '/agent/org_id'],
    [
      'an agent that cannot be',
      { agent: { org_id: '!', team_id: '', agent_id: 'a' }, trace_id: 't', span_id: 's' },
      '/agent/org_id',
    ],
    ['no ids', { agent: { org_id: '', team_id: '', agent_id: 'a' } }, '/trace_id'],
    [
      'a colon in an id',
      { agent: { org_id: '', team_id: '', agent_id: 'a' }, trace_id: 'a:b', span_id: 's' },
      '/trace_id',
    ],
    [
      'a trace without a span',
      { agent: { org_id: '', team_id: '', agent_id: 'a' }, trace_id: 't', span_id: '' },
      '/span_id',
    ],
    [
      '129 characters',
      { agent: { org_id: '', team_id: '', agent_id: 'a' }, trace_id: 't', span_id: 'x'.repeat(129) },
      '/span_id',
    ],
    [
      'an unknown member',
      { agent: { org_id: '', team_id: '', agent_id: 'a', x: 1 }, trace_id: 't', span_id: 's' },
      '/agent/x',
    ],
    [
      'a long summary',
      { agent: { org_id: '', team_id: '', agent_id: 'a' }, trace_id: 't', span_id: 's', summary: 'x'.repeat(8193) },
      '/summary',
    ],
  ])('with %s is refused', async (_what, body, pointer) => {
    const answer = await post<Problem>('/api/v1/ops', body);
    expect(answer).toMatchObject({ status: 422, body: { code: 'validation_failed' } });
    expect(answer.body.errors?.map((error) => error.pointer)).toContain(pointer);
  });

  test('of an unknown agent is 404', async () => {
    const nobody = { ...agent, id: { ...agent.id, agentId: 'nobody' } };
    expect(await register(newIds(), nobody)).toMatchObject({ status: 404, body: { code: 'agent_not_found' } });
  });
});

/** The specification's table: the result of each trigger in each state. */
const table = {
  pending: { terminate: 'terminated' },
  running: { pause: 'paused', complete: 'completing', terminate: 'terminated' },
  paused: { resume: 'running', terminate: 'terminated' },
  completing: {},
  terminated: { terminate: 'terminated' },
} as const satisfies Record<Op['state'], Partial<Record<string, Op['state']>>>;

const states = Object.keys(table) as Op['state'][];
const verbs = ['pause', 'resume', 'terminate', 'complete'] as const;

describe.each(states)('an operation that is %s', (state) => {
  test.each(verbs)('by %s moves as the table says, or is refused and stays', async (verb) => {
    const opId = await opIn(state);
    const before = await read(opId);
    const entries = gateway.audit().length;
    const to = (table[state] as Partial<Record<string, Op['state']>>)[verb];
    const answer = await post<Controlled & Op & Problem>(
      `${pathOf(opId)}/${verb}`,
      verb === 'complete' ? {} : undefined,
    );
    if (to === undefined) {
      expect(answer).toMatchObject({
        status: 409,
        body: {
          code: 'invalid_transition',
          state,
          allowed: state === 'pending' ? ['allow', 'terminate'] : Object.keys(table[state]),
        },
      });
      expect(await read(opId)).toEqual(before);
      expect(gateway.audit()).toHaveLength(entries);
    } else if (to === state) {
      expect(answer).toMatchObject({ status: 202, body: { op: before, control: null } });
      expect(await read(opId)).toEqual(before);
      expect(gateway.audit()).toHaveLength(entries);
    } else {
      expect(answer.status).toBe(verb === 'complete' ? 200 : 202);
      expect((verb === 'complete' ? answer.body : answer.body.op).state).toBe(to);
      expect((await read(opId)).state).toBe(to);
      const changes = gateway.audit().slice(entries);
      expect(changes.filter((entry) => entry.event_type === 'OpStateChanged')).toMatchObject([
        { op_id: opId, actor: operator, payload: { from: state, to, trigger: verb } },
      ]);
    }
  });

  test('by registering it again stays what it is', async () => {
    const opId = await opIn(state);
    const before = await read(opId);
    const entries = gateway.audit().length;
    const [traceId = '', spanId = ''] = opId.split(':');
    expect(await register({ traceId, spanId })).toMatchObject({ status: 200, body: before });
    expect(gateway.audit()).toHaveLength(entries);
  });
});

describe('control', () => {
  test('is answered with the operation and a receipt, which the operation shows as its last control', async () => {
    const opId = await opIn('running');
    const { status, body } = await post<Controlled>(`${pathOf(opId)}/pause`, { reason: 'look at it' });
    expect(status).toBe(202);
    expect(body.control).toMatchObject({
      id: expect.stringMatching(/^ctl_/),
      action: 'pause',
      actor: operator,
      reason: 'look at it',
      delivered_at: null,
      acked_at: null,
      effective_at: null,
      status: 'requested',
    });
    expect(body.op).toMatchObject({ op_id: opId, state: 'paused', actor: operator, control: body.control });
    expect(await read(opId)).toEqual(body.op);
    expect(gateway.audit().at(-2)).toMatchObject({
      event_type: 'OpControlRequested',
      actor: operator,
      op_id: opId,
      reason: 'look at it',
      payload: { action: 'pause', control_id: body.control?.id },
    });
    const receipt = await gateway.api.get<Receipt>(`/api/v1/control/${body.control?.id}`, bootstrapKey);
    expect(receipt).toMatchObject({
      status: 200,
      body: { kind: 'receipt', ...body.control, op_id: opId, agent: triple(agent), bulk_id: null },
    });
    const resumed = await post<Controlled>(`${pathOf(opId)}/resume`);
    expect(resumed.body.op.control).toMatchObject({ action: 'resume', reason: '' });
    expect(resumed.body.control?.id).not.toBe(body.control?.id);
  });

  test('of a pending operation wins over its first check', async () => {
    const opId = await opIn('pending');
    const [traceId = '', spanId = ''] = opId.split(':');
    await post(`${pathOf(opId)}/terminate`, { reason: 'not today' });
    expect(await gateway.check(agent, { traceId, spanId })).toMatchObject({ decision: 2, reason: 'not today' });
  });

  test('of two operators at the same moment one wins, and the other is told the truth', async () => {
    for (let round = 0; round < 20; round++) {
      const opId = await opIn('running');
      const entries = gateway.audit().length;
      const verb = round % 2 === 0 ? 'pause' : 'complete';
      const answers = await Promise.all([
        post<Controlled & Problem>(`${pathOf(opId)}/pause`, { reason: 'first' }),
        post<Controlled & Problem>(`${pathOf(opId)}/${verb}`, verb === 'pause' ? { reason: 'second' } : undefined),
      ]);
      const won = answers.filter(({ status }) => status < 300);
      const lost = answers.filter(({ status }) => status === 409);
      expect([won.length, lost.length]).toEqual([1, 1]);
      const { state } = await read(opId);
      expect(lost[0]?.body).toMatchObject({ code: 'invalid_transition', state });
      const moves = gateway.audit().slice(entries);
      expect(moves.filter(({ event_type }) => event_type === 'OpStateChanged')).toHaveLength(1);
    }
  });

  test('a reason has a limit, and is kept without secrets', async () => {
    const opId = await opIn('running');
    for (const length of [8193, 10_000]) {
      const answer = await post<Problem>(`${pathOf(opId)}/pause`, { reason: 'x'.repeat(length) });
      expect(answer).toMatchObject({ status: 422, body: { errors: [{ pointer: '/reason' }] } });
    }
    expect(await post(`${pathOf(opId)}/pause`, { reason: 7 })).toMatchObject({ status: 422 });
    expect(await post(`${pathOf(opId)}/pause`, { why: '' })).toMatchObject({ status: 422 });
    expect((await read(opId)).state).toBe('running');
    const longest = await post<Controlled>(`${pathOf(opId)}/pause`, { reason: 'x'.repeat(8192) });
    expect(longest.body.control?.reason).toHaveLength(8192);
    const secret = await post<Controlled>(`${pathOf(opId)}/terminate`, { reason: `leaked ${bootstrapKey}` });
    expect(secret.body).toMatchObject({
      op: { reason: 'leaked [redacted]' },
      control: { reason: 'leaked [redacted]' },
    });
    expect(JSON.stringify(gateway.audit().slice(-4))).not.toContain(bootstrapKey.slice(17));
  });

  test('completing settles the cost and says how it ended', async () => {
    const ids = newIds();
    await gateway.check(agent, { ...ids, estimatedCostMicros: 100 });
    for (const body of [{ actual_cost_micros: -1 }, { actual_cost_micros: 1.5 }, { outcome: 'fine' }, { x: 1 }]) {
      expect(await post(`${pathOf(ids.opId)}/complete`, body)).toMatchObject({ status: 422 });
    }
    const answer = await post<Op>(`${pathOf(ids.opId)}/complete`, {
      actual_cost_micros: 70,
      outcome: 'failed',
      detail: 'timed out',
      reason: 'its agent is gone',
    });
    expect(answer).toMatchObject({ status: 200, body: { state: 'completing', cost_micros: 70, control: null } });
    expect(gateway.audit().at(-1)).toMatchObject({
      actor: operator,
      reason: 'its agent is gone',
      payload: { outcome: 'failed', detail: 'timed out', cost_micros: 70, reserved_micros: 100 },
    });
  });

  test('of what is not there is told apart from what cannot be done', async () => {
    expect(await gateway.api.get('/api/v1/control/ctl_nothing', bootstrapKey)).toMatchObject({
      status: 404,
      body: { code: 'control_not_found' },
    });
  });
});

describe('ids', () => {
  let here: Registered;
  let there: Registered;
  let lone: Registered;
  beforeAll(async () => {
    here = await gateway.register({ teamId: 'ids', agentId: 'dotted.name-1' });
    there = await gateway.register({ orgId: 'globex', teamId: 'ids', agentId: 'dotted.name-1' });
    lone = await gateway.register({ orgId: '', teamId: '', agentId: 'dotted.name-1' });
  });

  test('of several agents are ambiguous, and each is reached by its full id', async () => {
    const ids = newIds();
    for (const one of [here, there, lone]) await gateway.check(one, ids);
    const ambiguous = {
      status: 409,
      body: {
        code: 'ambiguous_op',
        candidates: [
          `acme/ids/dotted.name-1/${ids.opId}`,
          `globex/ids/dotted.name-1/${ids.opId}`,
          `-/-/dotted.name-1/${ids.opId}`,
        ],
      },
    };
    const entries = gateway.audit().length;
    expect(await gateway.api.get(pathOf(ids.opId), bootstrapKey)).toMatchObject(ambiguous);
    for (const verb of verbs) expect(await post(`${pathOf(ids.opId)}/${verb}`)).toMatchObject(ambiguous);
    expect(gateway.audit()).toHaveLength(entries);
    for (const [index, id] of ambiguous.body.candidates.entries()) {
      const paused = await post<Controlled>(`${pathOf(id)}/pause`);
      expect(paused).toMatchObject({
        status: 202,
        body: { op: { agent: triple([here, there, lone][index] ?? here) } },
      });
    }
    const tenant = await makeKey(gateway, { org_id: 'globex', scopes: ['write'] });
    const resumed = await post<Controlled>(`${pathOf(ids.opId)}/resume`, undefined, tenant.key);
    expect(resumed).toMatchObject({ status: 403, body: { code: 'imposed_by_wider' } });
    expect(await post<Controlled>(`${pathOf(ids.opId)}/terminate`, undefined, tenant.key)).toMatchObject({
      status: 202,
      body: { op: { agent: triple(there) } },
    });
    expect(await read(`acme/ids/dotted.name-1/${ids.opId}`)).toMatchObject({ state: 'paused' });
  });

  test('are understood with and without encoding', async () => {
    const opId = await opIn('running', here);
    const full = `acme/ids/dotted.name-1/${opId}`;
    for (const id of [opId, encodeURIComponent(opId), full.replaceAll('/', '%2f'), encodeURIComponent(full)]) {
      expect(await gateway.api.get(`/api/v1/ops/${id}`, bootstrapKey)).toMatchObject({ body: { op_id: opId } });
    }
    expect(await gateway.api.get(`/api/v1/ops/${full}`, bootstrapKey)).toMatchObject({ body: { code: 'not_found' } });
    const twice = encodeURIComponent(encodeURIComponent(full));
    expect(await gateway.api.get(`/api/v1/ops/${twice}`, bootstrapKey)).toMatchObject({
      body: { code: 'op_not_found' },
    });
  });
});

describe('the list', () => {
  let list: (query?: string, bearer?: string) => Promise<List>;
  const ids: string[] = [];
  beforeAll(async () => {
    list = async (query = '', bearer = bootstrapKey) => {
      const answer = await gateway.api.get<List>(`/api/v1/ops?${query}`, bearer);
      expect(answer.status, answer.text).toBe(200);
      return answer.body;
    };
    const agents = [];
    for (const [orgId, teamId] of [
      ['list', 'one'],
      ['list', 'two'],
      ['other', 'one'],
    ] as const) {
      agents.push(await gateway.register({ orgId, teamId, agentId: `${orgId}-${teamId}` }));
    }
    for (let i = 0; i < 12; i++) {
      const traceId = `list-${i}`;
      ids.push(`${traceId}:s`);
      await gateway.check(agents[i % 3] ?? agent, { traceId, spanId: 's', runId: `list-run-${i % 2}` });
      if (i % 4 === 0) await post(`${pathOf(`${traceId}:s`)}/pause`);
    }
  });
  const some = (fits: (index: number) => boolean) => ids.filter((_, index) => fits(index)).toReversed();

  test('has the newest first, and a page at a time', async () => {
    const whole = await list('org_id=list');
    expect(whole.items.map((op) => op.op_id)).toEqual(some((i) => i % 3 < 2));
    expect(whole).toMatchObject({ total: 8, next_cursor: null });
    const seen: string[] = [];
    let cursor: string | null = '';
    for (let pages = 0; cursor !== null; pages++) {
      expect(pages).toBeLessThan(4);
      const page: List = await list(`org_id=list&per_page=3${cursor === '' ? '' : `&cursor=${cursor}`}`);
      expect(page.total).toBe(8);
      seen.push(...page.items.map((op) => op.op_id));
      cursor = page.next_cursor;
    }
    expect(seen).toEqual(whole.items.map((op) => op.op_id));
    const [first] = whole.items;
    expect(first).toEqual(await read(first?.op_id ?? ''));
  });

  test.each<[string, (index: number) => boolean]>([
    ['org_id=other', (i) => i % 3 === 2],
    ['org_id=list&team_id=two', (i) => i % 3 === 1],
    ['agent_id=list-one', (i) => i % 3 === 0],
    ['run_id=list-run-1', (i) => i % 2 === 1],
    ['run_id=list-run-0&org_id=list&state=paused', (i) => i % 4 === 0 && i % 3 < 2],
    ['state=running&agent_id=list-two', (i) => i % 4 !== 0 && i % 3 === 1],
    ['org_id=nobody', () => false],
  ])('filtered by %s', async (query, fits) => {
    const { items, total } = await list(query);
    expect(items.map((op) => op.op_id)).toEqual(some(fits));
    expect(total).toBe(items.length);
  });

  test.each(['state=gone', 'state=Running', 'per_page=0', 'per_page=1001', 'cursor=x', `run_id=${'x'.repeat(129)}`])(
    'refuses %s',
    async (query) => {
      expect(await gateway.api.get(`/api/v1/ops?${query}`, bootstrapKey)).toMatchObject({ status: 422 });
    },
  );

  test('shows a tenant its own, whatever it asks for', async () => {
    const org = await makeKey(gateway, { org_id: 'list' });
    const team = await makeKey(gateway, { org_id: 'list', team_id: 'two' });
    expect(await list('', org.key)).toMatchObject({ total: 8 });
    expect(await list('', team.key)).toMatchObject({ total: 4 });
    expect(await list('org_id=other', org.key)).toEqual({ items: [], next_cursor: null, total: 0 });
    expect(await list('team_id=one', team.key)).toEqual({ items: [], next_cursor: null, total: 0 });
    expect(await list('agent_id=other-one', org.key)).toMatchObject({ total: 0 });
    const first = await list('per_page=1');
    expect((await list(`cursor=${first.next_cursor}`, team.key)).items.every((op) => op.agent.team_id === 'two')).toBe(
      true,
    );
  });
});

describe('credentials', () => {
  test('without the scope are refused, each with the scope that is missing', async () => {
    const opId = await opIn('running');
    const reader = await makeKey(gateway, { scopes: ['read'] });
    const calls = [
      post<Problem>('/api/v1/ops', { agent: triple(agent), trace_id: 't', span_id: 's' }, reader.key),
      ...verbs.map((verb) => post<Problem>(`${pathOf(opId)}/${verb}`, undefined, reader.key)),
      post<Problem>(`${pathOf('no:such')}/pause`, undefined, reader.key),
    ];
    for (const answer of await Promise.all(calls)) {
      expect(answer).toMatchObject({ status: 403, body: { code: 'insufficient_scope', required_scope: 'write' } });
    }
    expect((await read(opId, reader.key)).state).toBe('running');
    for (const path of ['/api/v1/ops', pathOf(opId), '/api/v1/control/x']) {
      expect((await gateway.api.get(path)).status).toBe(401);
    }
    expect((await gateway.api.post(`${pathOf(opId)}/pause`)).status).toBe(401);
  });

  test('of a tenant reach its own; what others have does not exist, and nothing happens to it', async () => {
    const foreign = await gateway.register({ orgId: 'globex', agentId: 'foreign' });
    const team = await gateway.register({ teamId: 'elsewhere', agentId: 'elsewhere' });
    const [own, theirs, beside] = [await opIn('running'), await opIn('running', foreign), await opIn('running', team)];
    const { key } = await makeKey(gateway, { org_id: 'acme', team_id: 'core', scopes: ['write'] });
    const receipt = await post<Controlled>(`${pathOf(theirs)}/pause`);
    await post(`${pathOf(theirs)}/resume`);
    for (const id of [theirs, beside, `globex/core/foreign/${theirs}`, `acme/elsewhere/elsewhere/${beside}`]) {
      const message = `there is no operation "${id}"`;
      const missing = { status: 404, body: { code: 'op_not_found', detail: message } };
      expect(await gateway.api.get(pathOf(id), key)).toMatchObject(missing);
      for (const verb of verbs) expect(await post(`${pathOf(id)}/${verb}`, undefined, key)).toMatchObject(missing);
    }
    expect(await gateway.api.get(`/api/v1/control/${receipt.body.control?.id}`, key)).toMatchObject({ status: 404 });
    expect(await register(newIds(), foreign, key)).toMatchObject({ status: 404, body: { code: 'agent_not_found' } });
    expect(await register(newIds(), team, key)).toMatchObject({ status: 404 });
    expect((await read(theirs)).state).toBe('running');
    expect((await read(beside)).state).toBe('running');
    const mine = await post<Controlled>(`${pathOf(own)}/pause`, undefined, key);
    expect(mine).toMatchObject({
      status: 202,
      body: { op: { state: 'paused', actor: { kind: 'api_key', label: 'a test' } } },
    });
    expect(await gateway.api.get(`/api/v1/control/${mine.body.control?.id}`, key)).toMatchObject({ status: 200 });
  });
});

test.each(['SIGTERM', 'SIGKILL'] as const)(
  'after %s operations and their receipts are as they were',
  async (signal) => {
    const env = { SVC_CONTROL_ACK_SECS: '600' };
    await using first = await TestGateway.start({ policies: { 'ops.yaml': policy }, env });
    const worker = await first.register({ agentId: 'worker' });
    const body = { agent: triple(worker), trace_id: 'registered', span_id: 's', summary: 'waits' };
    const registered = await first.api.post<Op>('/api/v1/ops', bootstrapKey, body);
    await first.check(worker, { traceId: 'paused', spanId: 's' });
    await first.check(worker, { traceId: 'done', spanId: 's' });
    const paused = await first.api.post<Controlled>('/api/v1/ops/paused:s/pause', bootstrapKey, { reason: 'wait' });
    const done = await first.api.post<Op>('/api/v1/ops/done:s/complete', bootstrapKey);

    await using second = await first.restart(signal, { env });
    const list = await second.api.get<List>('/api/v1/ops', bootstrapKey);
    expect(list.body.items).toEqual([done.body, paused.body.op, registered.body]);
    const receipt = await second.api.get<Receipt>(`/api/v1/control/${paused.body.control?.id}`, bootstrapKey);
    expect(receipt.body).toMatchObject({ ...paused.body.control, op_id: 'paused:s' });
    expect(await second.check(worker, { traceId: 'registered', spanId: 's' })).toMatchObject({ decision: 1 });
    expect(await second.api.get<Op>('/api/v1/ops/registered:s', bootstrapKey)).toMatchObject({
      body: { state: 'running', registered_at: registered.body.registered_at, summary: 'waits' },
    });
  },
);
