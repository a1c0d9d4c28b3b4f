import { ActionType, Decision } from '@reeve/contract';
import type { Problem, RouteOutput, Routes } from '@reeve/contract/http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { acknowledge, ControlStream } from '../harness/control-stream.ts';
import { makeKey, registerAs, tokenOf } from '../harness/credentials.ts';
import { EventSocket } from '../harness/event-socket.ts';
import { eventually } from '../harness/eventually.ts';
import type { Registered } from '../harness/gateway.ts';
import { bootstrapKey, TestGateway, toolCall } from '../harness/gateway.ts';

type Approval = RouteOutput<Routes['getApproval']>;
type Approvals = RouteOutput<Routes['listApprovals']>;
type Grant = RouteOutput<Routes['revokeGrant']>;
type Grants = RouteOutput<Routes['listGrants']>;
type Budgets = RouteOutput<Routes['listBudgets']>;
type Op = RouteOutput<Routes['getOp']>;

const policy = `
name: p
default: allow
rules:
  - { name: ask, effect: require_approval, tools: [shell] }
  - { name: ask-git, effect: require_approval, commands: ['git *'] }
  - { name: ask-two, effect: require_approval, tools: [deploy], approvals: { count: 2, ttl_secs: 3600 } }
  - { name: ask-others, effect: require_approval, tools: [pay], approvals: { self: false } }
  - { name: ask-briefly, effect: require_approval, tools: [brief], approvals: { ttl_secs: 1 } }
---
name: umbrella-budget
scope: org:umbrella
budget: { daily_limit_usd: 1 }
`;
const asks = { policies: { 'p.yaml': policy }, env: { SVC_OPS_TTL_SECS: '600' } };

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await TestGateway.start(asks);
});
afterAll(() => gateway[Symbol.asyncDispose]());

let agents = 0;

/** An agent of its own for each test. */
function newAgent(on = gateway, orgId = 'acme'): Promise<Registered> {
  return on.register({ orgId, agentId: `bot-${++agents}` });
}

function ask(agent: Registered, traceId: string, members: object = {}, on = gateway) {
  return on.check(agent, { traceId, spanId: 's', context: toolCall('shell', { cmd: 'ls' }), ...members });
}

async function held(agent: Registered, traceId: string, members: object = {}, on = gateway): Promise<string> {
  const answer = await ask(agent, traceId, members, on);
  expect(answer).toMatchObject({ decision: Decision.PENDING, opState: 'pending' });
  expect(answer.approvalId).not.toBe('');
  return answer.approvalId;
}

function verdict<Body = Approval>(
  id: string,
  what: 'approve' | 'reject',
  body: object = {},
  bearer = bootstrapKey,
  on = gateway,
) {
  return on.api.post<Body>(`/api/v1/approvals/${id}/${what}`, bearer, body);
}

async function approve(id: string, body?: object, bearer = bootstrapKey, on = gateway): Promise<Approval> {
  const answer = await verdict(id, 'approve', body, bearer, on);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

async function read(id: string, on = gateway): Promise<Approval> {
  const answer = await on.api.get<Approval>(`/api/v1/approvals/${id}`, bootstrapKey);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

async function list(query: string, bearer = bootstrapKey, on = gateway): Promise<Approvals> {
  const answer = await on.api.get<Approvals>(`/api/v1/approvals?${query}`, bearer);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

async function opOf(agent: Registered, traceId: string, on = gateway): Promise<Op> {
  const { orgId, teamId, agentId } = agent.id;
  const id = encodeURIComponent(`${orgId}/${teamId}/${agentId}/${traceId}:s`);
  const answer = await on.api.get<Op>(`/api/v1/ops/${id}`, bootstrapKey);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

async function spendOf(agent: Registered, on = gateway) {
  const { orgId, teamId, agentId } = agent.id;
  const query = `org_id=${orgId}&team_id=${teamId}&agent_id=${agentId}`;
  const { body } = await on.api.get<Budgets>(`/api/v1/budgets?${query}`, bootstrapKey);
  const row = body.items.find(({ tier, period }) => tier === 'agent' && period === 'day');
  return { spent: row?.spent_usd, reserved: row?.reserved_usd };
}

describe('an action that needs approval', () => {
  test('is held with an approval that shows all that a person needs to decide, without secrets', async () => {
    const agent = await newAgent();
    const id = await held(agent, 't1', {
      context: toolCall('shell', { cmd: 'deploy', api_key: 'sk-live-4f9a8b7c6d5e4f3a2b1c0d9e' }),
      estimatedCostMicros: 1_370_000,
      runId: 'run-7',
      summary: 'deploy the site',
    });
    const approval = await read(id);
    expect(approval).toMatchObject({
      id,
      state: 'open',
      op_id: 't1:s',
      agent: { org_id: 'acme', team_id: 'core', agent_id: agent.id.agentId },
      title: expect.stringMatching(/^shell\(api_key: .*, cmd: "deploy"\)$/) as string,
      action_type: 'tool_call',
      resource: 'shell',
      summary: 'deploy the site',
      run_id: 'run-7',
      action: { type: 'tool_call', tool: 'shell', args: { cmd: 'deploy' } },
      policy_rule: 'p/ask',
      reason: 'approval required by rule p/ask',
      cost_micros: 1_370_000,
      cost_usd: '1.37',
      required: 1,
      verdicts: [],
      decided_at: null,
      grant_id: null,
    });
    expect(JSON.stringify(approval)).not.toContain('4f9a8b7c');
    expect(Date.parse(approval.expires_at) - Date.parse(approval.requested_at)).toBe(300_000);
    expect(await opOf(agent, 't1')).toMatchObject({ state: 'pending', cost_micros: 1_370_000 });
  });

  test('is a command as it would be typed, in its folder, and a grant covers it nowhere else', async () => {
    const agent = await newAgent();
    const git = (traceId: string, workingDir: string) =>
      gateway.check(agent, {
        ...{ traceId, spanId: 's', runId: 'r', actionType: ActionType.PROCESS_EXEC },
        context: {
          action: { $case: 'processExec', value: { command: 'git', args: ['commit', '-m', 'a "b"'], workingDir } },
        },
      });
    const { approvalId } = await git('c1', '/srv/shop');
    expect(await read(approvalId)).toMatchObject({
      title: `git commit -m 'a "b"' (in /srv/shop)`,
      action: { working_dir: '/srv/shop' },
    });
    expect((await list(`agent_id=${agent.id.agentId}`)).items[0]?.title).toBe(`git commit -m 'a "b"' (in /srv/shop)`);
    expect((await git('c1', '/srv/other')).decision).toBe(Decision.DENY);
    await approve(approvalId, { grant: { reach: 'run' } });
    expect((await git('c2', '/srv/shop')).decision).toBe(Decision.ALLOW);
    expect((await git('c3', '/srv/other')).decision).toBe(Decision.PENDING);
    expect((await git('c4', '')).decision).toBe(Decision.PENDING);
  });

  test('answers PENDING with the same id when it is asked about again, and DENY to another request', async () => {
    const agent = await newAgent();
    const id = await held(agent, 't1');
    expect(await ask(agent, 't1')).toMatchObject({ decision: Decision.PENDING, approvalId: id });
    expect(await ask(agent, 't1', { context: toolCall('shell', { cmd: 'rm' }) })).toMatchObject({
      decision: Decision.DENY,
      approvalId: '',
      reason: 'operation id was used for another request',
    });
    expect((await list(`agent_id=${agent.id.agentId}`)).total).toBe(1);
  });

  test('runs once it is approved: the check answers ALLOW, and the control stream says ALLOW', async () => {
    const agent = await newAgent();
    const stream = await ControlStream.open(gateway, agent);
    const id = await held(agent, 't1');
    const approval = await approve(id, { reason: 'fine' });
    expect(approval).toMatchObject({
      state: 'approved',
      verdicts: [{ verdict: 'approve', reason: 'fine', actor: { kind: 'api_key', id: 'abcdefghijkl' } }],
    });
    expect(await stream.heard(1)).toEqual(['1 allow t1:s']);
    expect(await ask(agent, 't1')).toMatchObject({ decision: Decision.ALLOW, opState: 'running' });
    expect(await gateway.complete(agent, 't1:s')).toMatchObject({ state: 'completing' });
    expect(await ask(agent, 't1')).toMatchObject({ decision: Decision.DENY });
    stream.cancel();
  });

  test('is over once it is rejected: the check answers DENY with the reason, and the stream says TERMINATE', async () => {
    const agent = await newAgent();
    const stream = await ControlStream.open(gateway, agent);
    const id = await held(agent, 't1', { estimatedCostMicros: 500_000 });
    expect(await spendOf(agent)).toEqual({ spent: '0.00', reserved: '0.50' });
    const { status, body } = await verdict(id, 'reject', { reason: 'not on a Friday' });
    expect([status, body.state]).toEqual([200, 'rejected']);
    expect(await stream.heard(1)).toEqual(['1 terminate t1:s']);
    const answer = await ask(agent, 't1');
    expect(answer).toMatchObject({ decision: Decision.DENY, opState: 'terminated' });
    expect(answer.reason).toContain('not on a Friday');
    expect(await spendOf(agent)).toEqual({ spent: '0.00', reserved: '0.00' });
    stream.cancel();
  });

  test('is over once nobody has decided in time', async () => {
    const agent = await newAgent();
    const stream = await ControlStream.open(gateway, agent);
    const id = await held(agent, 't1', { context: toolCall('brief'), estimatedCostMicros: 500_000 });
    await eventually(async () => expect((await read(id)).state).toBe('expired'));
    expect(await stream.heard(1)).toEqual(['1 terminate t1:s']);
    expect(await ask(agent, 't1', { context: toolCall('brief') })).toMatchObject({
      decision: Decision.DENY,
      reason: 'approval expired',
    });
    expect(await spendOf(agent)).toEqual({ spent: '0.00', reserved: '0.00' });
    const late = await verdict<Problem>(id, 'approve');
    expect([late.status, late.body.code]).toEqual([409, 'already_decided']);
    stream.cancel();
  });

  test('is on record step by step, with who did it', async () => {
    const agent = await newAgent();
    const id = await held(agent, 't1');
    await approve(id, { reason: 'fine' });
    const entries = gateway
      .audit()
      .filter((entry) => entry.lineage.agent_id === agent.id.agentId && entry.op_id !== null);
    expect(entries.map((entry) => [entry.event_type, entry.decision, entry.actor.kind])).toEqual([
      ['ActionPending', 'pending', 'agent'],
      ['ApprovalRequested', null, 'system'],
      ['OpStateChanged', null, 'api_key'],
      ['ApprovalGranted', null, 'api_key'],
    ]);
    for (const entry of entries) expect(entry.payload['approval_id']).toBe(id);
  });

  test('is terminated by an operator like any other, which cancels its approval', async () => {
    const agent = await newAgent();
    const id = await held(agent, 't1');
    const op = encodeURIComponent(`acme/core/${agent.id.agentId}/t1:s`);
    expect((await gateway.api.post(`/api/v1/ops/${op}/terminate`, bootstrapKey, { reason: 'no' })).status).toBe(202);
    expect((await read(id)).state).toBe('cancelled');
    const late = await verdict<Problem>(id, 'approve');
    expect([late.status, late.body.code]).toEqual([409, 'already_decided']);
  });
});

describe('a verdict', () => {
  test('is given once; a second one is 409 already_decided and changes nothing', async () => {
    const agent = await newAgent();
    const id = await held(agent, 't1');
    await approve(id);
    for (const what of ['approve', 'reject'] as const) {
      const again = await verdict<Problem & { state?: string }>(id, what);
      expect([again.status, again.body.code]).toEqual([409, 'already_decided']);
    }
    expect((await opOf(agent, 't1')).state).toBe('running');
    expect((await read(id)).verdicts).toHaveLength(1);
  });

  test('of many at the same time one counts', async () => {
    const agent = await newAgent();
    const id = await held(agent, 't1');
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) => verdict(id, index % 2 === 0 ? 'approve' : 'reject')),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(11);
  });

  test('needs two different people where the rule says so; a key and its tokens are one', async () => {
    const agent = await newAgent();
    const id = await held(agent, 't1', { context: toolCall('deploy') });
    const [one, two] = [await makeKey(gateway, { scopes: ['write'] }), await makeKey(gateway, { scopes: ['write'] })];
    expect(await approve(id, { reason: 'one' }, one.key)).toMatchObject({ state: 'open', required: 2 });
    for (const bearer of [one.key, await tokenOf(gateway, one.key)]) {
      const again = await verdict<Problem>(id, 'approve', {}, bearer);
      expect([again.status, again.body.code]).toEqual([409, 'already_decided']);
    }
    expect((await opOf(agent, 't1')).state).toBe('pending');
    const approval = await approve(id, { reason: 'two' }, await tokenOf(gateway, two.key));
    expect(approval.verdicts.map(({ actor }) => actor.id)).toEqual([one.id, two.id]);
    expect(await ask(agent, 't1', { context: toolCall('deploy') })).toMatchObject({ decision: Decision.ALLOW });
  });

  test('does not come from the credential that the agent was registered with', async () => {
    const own = await makeKey(gateway, { scopes: ['write'] });
    const id = { orgId: 'acme', teamId: 'core', agentId: `bot-${++agents}` };
    const { credentialToken } = await registerAs(gateway, own.key, id);
    const approval = await held({ id, token: credentialToken }, 't1');
    for (const bearer of [own.key, await tokenOf(gateway, own.key)]) {
      const refused = await verdict<Problem>(approval, 'approve', {}, bearer);
      expect([refused.status, refused.body.code]).toEqual([403, 'own_approval']);
    }
    const asAgent = await verdict<Problem>(approval, 'approve', {}, credentialToken);
    expect(asAgent.status).toBe(401);
    expect(await read(approval)).toMatchObject({ state: 'open', verdicts: [] });
    await approve(approval, {}, (await makeKey(gateway, { scopes: ['write'] })).key);
  });

  test('of an unbound admin about an agent of its own is marked, in the entry and wherever it is shown', async () => {
    const own = await makeKey(gateway, { scopes: ['admin'] });
    const id = { orgId: 'acme', teamId: 'core', agentId: `bot-${++agents}` };
    const { credentialToken } = await registerAs(gateway, own.key, id);
    const approval = await held({ id, token: credentialToken }, 't1');
    const decided = await approve(approval, {}, await tokenOf(gateway, own.key));
    expect(decided).toMatchObject({ state: 'approved', self_approved: true, verdicts: [{ self_approved: true }] });
    expect(await read(approval)).toMatchObject({ self_approved: true });
    const entry = gateway.audit().find(({ payload }) => payload['approval_id'] === approval && 'approvers' in payload);
    expect(entry).toMatchObject({ event_type: 'ApprovalGranted', payload: { self_approved: true } });
    const other = await held({ id, token: credentialToken }, 't2');
    expect(await approve(other, {}, (await makeKey(gateway, { scopes: ['write'] })).key)).toMatchObject({
      self_approved: false,
      verdicts: [{ self_approved: false }],
    });
  });

  test('of an unbound admin about an agent of its own counts for nothing where a rule says so', async () => {
    const own = await makeKey(gateway, { scopes: ['admin'] });
    const id = { orgId: 'acme', teamId: 'core', agentId: `bot-${++agents}` };
    const { credentialToken } = await registerAs(gateway, own.key, id);
    const approval = await held({ id, token: credentialToken }, 't1', { context: toolCall('pay') });
    for (const what of ['approve', 'reject'] as const) {
      const refused = await verdict<Problem>(approval, what, {}, own.key);
      expect([refused.status, refused.body.code]).toEqual([403, 'own_approval']);
    }
    expect(await read(approval)).toMatchObject({ state: 'open', verdicts: [] });
    await approve(approval, {}, (await makeKey(gateway, { scopes: ['write'] })).key);
  });

  test('needs the write scope and a body that is right, and an approval that exists', async () => {
    const agent = await newAgent();
    const id = await held(agent, 't1');
    const reader = await makeKey(gateway, { scopes: ['read'] });
    expect(await verdict<Problem>(id, 'approve', {}, reader.key)).toMatchObject({
      status: 403,
      body: { required_scope: 'write' },
    });
    for (const body of [
      { reason: 1 },
      { reason: 'x'.repeat(8193) },
      { because: 'no' },
      { grant: { reach: 'for ever' } },
      { grant: { reach: 'until' } },
      { grant: { reach: 'run', until: '2030-01-01T00:00:00Z' } },
      { grant: { reach: 'until', until: '2001-01-01T00:00:00Z' } },
      { grant: { reach: 'until', until: '2999-01-01T00:00:00Z' } },
      { grant: { reach: 'run' } },
    ]) {
      const refused = await verdict<Problem>(id, 'approve', body);
      expect([refused.status, refused.body.code], JSON.stringify(body)).toEqual([422, 'validation_failed']);
    }
    expect(await verdict<Problem>('apr_nobody', 'approve')).toMatchObject({
      status: 404,
      body: { code: 'approval_not_found' },
    });
    expect((await read(id)).state).toBe('open');
  });
});

describe('the list', () => {
  test('shows open ones unless state says otherwise, narrowed and page by page', async () => {
    const agent = await newAgent();
    const { agentId } = agent.id;
    const ids: string[] = [];
    for (const trace of ['a', 'b', 'c', 'd']) ids.push(await held(agent, trace, { runId: `run-${trace}` }));
    const [a = '', b = '', c = '', d = ''] = ids;
    await approve(a);
    await verdict(b, 'reject');
    const found = async (query: string) => (await list(`agent_id=${agentId}&${query}`)).items.map(({ id }) => id);
    expect(await found('')).toEqual([c, d]);
    expect(await found('state=open')).toEqual([c, d]);
    expect(await found('state=pending')).toEqual([c, d]);
    expect(await found('state=approved')).toEqual([a]);
    expect(await found('state=rejected')).toEqual([b]);
    expect(await found('state=expired')).toEqual([]);
    expect((await found('state=all')).toSorted()).toEqual(ids.toSorted());
    expect(await found('run_id=run-d')).toEqual([d]);
    const first = await list(`agent_id=${agentId}&per_page=1`);
    expect(first).toMatchObject({ items: [{ id: c }], total: 2 });
    const second = await list(`agent_id=${agentId}&per_page=1&cursor=${first.next_cursor}`);
    expect(second).toMatchObject({ items: [{ id: d }], total: 2, next_cursor: null });
    for (const query of ['state=maybe', 'cursor=nonsense', 'per_page=0']) {
      expect((await gateway.api.get(`/api/v1/approvals?${query}`, bootstrapKey)).status).toBe(422);
    }
  });

  test('tells who decided what, and when, also after a restart', async () => {
    await using own = await TestGateway.start(asks);
    const agent = await newAgent(own);
    const ada = (await makeKey(own, { label: 'Ada@example.com', scopes: ['read', 'write'] })).key;
    const [a, b, c] = [
      await held(agent, 'a', {}, own),
      await held(agent, 'b', {}, own),
      await held(agent, 'c', {}, own),
    ];
    await approve(a, {}, ada, own);
    const { decided_at: at } = (await verdict(b, 'reject', {}, bootstrapKey, own)).body;
    let on = own;
    const found = async (query: string) => {
      const { body } = await on.api.get<Approvals>(`/api/v1/approvals?state=decided&${query}`, bootstrapKey);
      return body.items.map(({ id }) => id);
    };
    const all = async () => {
      expect(await found('')).toEqual(expect.arrayContaining([a, b]));
      expect(await found('')).not.toContain(c);
      expect(await found('decided_by=ada@EXAMPLE.com')).toEqual([a]);
      expect(await found('decided_by=nobody')).toEqual([]);
      expect(await found(`from=${at}`)).toContain(b);
      expect(await found(`to=${at}`)).toContain(b);
      expect(await found('to=2020-01-01T00:00:00Z')).toEqual([]);
    };
    await all();
    await using again = await own.restart('SIGTERM');
    on = again;
    await all();
    for (const query of ['decided_by=x', 'state=open&from=2020-01-01T00:00:00Z', 'state=decided&from=yesterday']) {
      expect((await on.api.get(`/api/v1/approvals?${query}`, bootstrapKey)).status).toBe(422);
    }
  });

  test('shows a tenant its own only, and to it another’s does not exist', async () => {
    const ours = await newAgent();
    const theirs = await newAgent(gateway, 'umbrella');
    const ourId = await held(ours, 't1');
    const theirId = await held(theirs, 't1');
    const bound = await makeKey(gateway, { scopes: ['write'], org_id: 'umbrella' });
    const seen = (await list('per_page=1000', bound.key)).items.map(({ id }) => id);
    expect(seen).toContain(theirId);
    expect(seen).not.toContain(ourId);
    expect(await list('org_id=acme', bound.key)).toEqual({ items: [], next_cursor: null, total: 0 });
    for (const path of [ourId, `${ourId}/approve`, `${ourId}/reject`]) {
      const method = path === ourId ? 'GET' : 'POST';
      const answer = await gateway.api.send<Problem>(method, `/api/v1/approvals/${path}`, { bearer: bound.key });
      expect([answer.status, answer.body.code]).toEqual([404, 'approval_not_found']);
    }
    expect((await read(ourId)).state).toBe('open');
    await approve(theirId, {}, bound.key);
  });
});

describe('a budget', () => {
  const capped = (action: string) => ({
    'p.yaml': `name: p
default: allow
rules: [{ name: ask, effect: require_approval, tools: [shell] }]
budget: { agent_daily_limit_usd: 1, action_on_exceed: ${action} }
`,
  });

  test('has people asked where action_on_exceed says so; what they approve passes the cap and is booked', async () => {
    await using own = await TestGateway.start({ policies: capped('require_approval') });
    const agent = await newAgent(own);
    const search = { context: toolCall('search') };
    expect(await ask(agent, 't1', { ...search, estimatedCostMicros: 900_000 }, own)).toMatchObject({
      decision: Decision.ALLOW,
    });
    const id = await held(agent, 't2', { ...search, estimatedCostMicros: 500_000 }, own);
    expect(await read(id, own)).toMatchObject({ policy_rule: 'budget/agent.day', cost_usd: '0.50' });
    expect(await spendOf(agent, own)).toEqual({ spent: '0.00', reserved: '1.40' });
    await approve(id, {}, bootstrapKey, own);
    await own.complete(agent, 't2:s', { actualCostMicros: 600_000 });
    expect(await spendOf(agent, own)).toEqual({ spent: '0.60', reserved: '0.90' });
  });

  test('otherwise beats require_approval: what would pass a cap is denied and nobody is asked', async () => {
    await using own = await TestGateway.start({ policies: capped('deny') });
    const agent = await newAgent(own);
    expect(await ask(agent, 't1', { estimatedCostMicros: 1_000_001 }, own)).toMatchObject({
      decision: Decision.DENY,
      policyRule: 'budget/agent.day',
      approvalId: '',
      limit: { status: 'LimitExceeded' },
    });
    expect((await list('state=all', bootstrapKey, own)).total).toBe(0);
  });
});

test('an action waits as long as SVC_APPROVAL_TTL_SECS says, where its rule does not', async () => {
  await using own = await TestGateway.start({ ...asks, env: { SVC_APPROVAL_TTL_SECS: '1' } });
  const agent = await newAgent(own);
  const id = await held(agent, 't1', {}, own);
  await eventually(async () => expect((await read(id, own)).state).toBe('expired'));
  expect(await read(await held(agent, 't2', { context: toolCall('deploy') }, own), own)).toMatchObject({
    state: 'open',
  });
});

describe('a restart', () => {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    test(`by ${signal} leaves an open approval open: it is approved, and its agent told`, async () => {
      const before = await TestGateway.start(asks);
      const agent = await newAgent(before);
      const id = await held(agent, 't1', { estimatedCostMicros: 500_000 }, before);
      const first = await makeKey(before, { scopes: ['write'] });
      const two = await held(agent, 't2', { context: toolCall('deploy') }, before);
      await approve(two, {}, first.key, before);
      await using own = await before.restart(signal, asks);
      expect(await read(id, own)).toMatchObject({ state: 'open' });
      expect(await spendOf(agent, own)).toEqual({ spent: '0.00', reserved: '0.50' });
      expect(await ask(agent, 't1', { estimatedCostMicros: 500_000 }, own)).toMatchObject({
        decision: Decision.PENDING,
        approvalId: id,
      });
      const stream = await ControlStream.open(own, agent);
      await approve(id, {}, bootstrapKey, own);
      expect(await stream.heard(1)).toEqual(['1 allow t1:s']);
      expect(await ask(agent, 't1', {}, own)).toMatchObject({ decision: Decision.ALLOW });
      expect((await verdict(two, 'approve', {}, first.key, own)).status).toBe(409);
      expect((await approve(two, {}, bootstrapKey, own)).state).toBe('approved');
      stream.cancel();
    });
  }

  test('sends again what was not acknowledged, and not what was', async () => {
    const before = await TestGateway.start(asks);
    const agent = await newAgent(before);
    const other = await newAgent(before);
    await approve(await held(agent, 't1', {}, before), {}, bootstrapKey, before);
    await verdict(await held(agent, 't2', {}, before), 'reject', {}, bootstrapKey, before);
    await approve(await held(other, 't1', {}, before), {}, bootstrapKey, before);
    await acknowledge(before, other, 1, 'RECEIVED');
    await using own = await before.restart('SIGKILL', asks);
    const stream = await ControlStream.open(own, agent);
    expect(await stream.heard(2)).toEqual(['1 allow t1:s', '2 terminate t2:s']);
    const quiet = await ControlStream.open(own, other);
    await approve(await held(other, 't2', {}, own), {}, bootstrapKey, own);
    expect(await quiet.heard(1)).toEqual(['2 allow t2:s']);
    stream.cancel();
    quiet.cancel();
  });

  test('ends what nobody decided on while the gateway was gone', async () => {
    const before = await TestGateway.start(asks);
    const agent = await newAgent(before);
    const id = await held(agent, 't1', { context: toolCall('brief'), estimatedCostMicros: 500_000 }, before);
    await before.kill('SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, 1000));
    await using own = await TestGateway.start({ ...asks, folder: before.folder });
    await eventually(async () => expect((await read(id, own)).state).toBe('expired'));
    expect(await spendOf(agent, own)).toEqual({ spent: '0.00', reserved: '0.00' });
  });

  test('that forgets operations cancels the approvals that they waited for', async () => {
    const before = await TestGateway.start(asks);
    const agent = await newAgent(before);
    const id = await held(agent, 't1', {}, before);
    await using own = await before.restart('SIGTERM', { ...asks, env: { SVC_OPS_DURABLE: 'false' } });
    expect((await read(id, own)).state).toBe('cancelled');
  });
});

test('every step is an event, to those of the tenant only', async () => {
  const agent = await newAgent();
  const { agentId } = agent.id;
  const bound = await makeKey(gateway, { scopes: ['read'], org_id: 'umbrella' });
  const socket = await EventSocket.open(gateway.http, { query: { types: 'approval', agent_id: agentId } });
  const foreign = await EventSocket.open(gateway.http, { bearer: bound.key, query: { types: 'approval' } });
  const first = await held(agent, 't1');
  await approve(first);
  const second = await held(agent, 't2', { context: toolCall('deploy') });
  await approve(second, {}, (await makeKey(gateway, { scopes: ['write'] })).key);
  await verdict(second, 'reject');
  const third = await held(agent, 't3');
  await gateway.deregister(agent);
  const events = await socket.received(7);
  const steps = events.map(({ payload }) => {
    const { change, approval } = payload as { change: string; approval: Approval };
    return [change, approval.id, approval.state];
  });
  expect(steps).toEqual([
    ['requested', first, 'open'],
    ['approved', first, 'approved'],
    ['requested', second, 'open'],
    ['verdict', second, 'open'],
    ['rejected', second, 'rejected'],
    ['requested', third, 'open'],
    ['cancelled', third, 'cancelled'],
  ]);
  expect(foreign.events).toEqual([]);
  socket.close();
  foreign.close();
});

describe('a standing grant', () => {
  async function grants(query: string, bearer = bootstrapKey): Promise<Grants> {
    const answer = await gateway.api.get<Grants>(`/api/v1/grants?${query}`, bearer);
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  }
  const revoke = <Body = Grant>(id: string, bearer = bootstrapKey) =>
    gateway.api.post<Body>(`/api/v1/grants/${id}/revoke`, bearer, { reason: 'enough' });

  test('for a run lets the agent do the same in that run, and not in another, until it is revoked', async () => {
    const agent = await newAgent();
    const inRun = { runId: 'run-1' };
    const id = await held(agent, 't1', inRun);
    const approval = await approve(id, { grant: { reach: 'run' }, reason: 'for today' });
    const grantId = approval.grant_id ?? '';
    expect(await ask(agent, 't2', { ...inRun, context: toolCall('shell', { cmd: 'pwd' }) })).toMatchObject({
      decision: Decision.ALLOW,
      approvalId: '',
      policyRule: 'p/ask',
    });
    await held(agent, 't3', { runId: 'run-2' });
    expect(await grants(`agent_id=${agent.id.agentId}`)).toMatchObject({
      total: 1,
      items: [
        { id: grantId, state: 'active', approval_id: id, reach: 'run', run_id: 'run-1', uses: 1, reason: 'for today' },
      ],
    });
    const allowed = gateway
      .audit()
      .findLast((entry) => entry.op_id === 't2:s' && entry.lineage.agent_id === agent.id.agentId);
    expect(allowed).toMatchObject({ event_type: 'ActionAllowed', payload: { grant_id: grantId } });

    const bound = await makeKey(gateway, { scopes: ['write'], org_id: 'umbrella' });
    expect(await revoke<Problem>(grantId, bound.key)).toMatchObject({ status: 404, body: { code: 'grant_not_found' } });
    expect((await grants(`agent_id=${agent.id.agentId}`, bound.key)).total).toBe(0);
    const revoked = await revoke(grantId);
    expect(revoked).toMatchObject({ status: 200, body: { state: 'revoked' } });
    expect((await revoke(grantId)).body).toEqual(revoked.body);
    await held(agent, 't4', inRun);
    expect((await grants(`agent_id=${agent.id.agentId}`)).total).toBe(0);
    expect((await grants(`agent_id=${agent.id.agentId}&state=revoked`)).total).toBe(1);
  });

  test('until a time lets the agent do the same in every run until then', async () => {
    const agent = await newAgent();
    const until = new Date(Date.now() + 2500).toISOString();
    await approve(await held(agent, 't1'), { grant: { reach: 'until', until } });
    expect(await ask(agent, 't2', { runId: 'any' })).toMatchObject({ decision: Decision.ALLOW });
    await eventually(async () => {
      expect(await grants(`agent_id=${agent.id.agentId}&state=expired`)).toMatchObject({ total: 1 });
    });
    await held(agent, 't3', { runId: 'any' });
  });
});
