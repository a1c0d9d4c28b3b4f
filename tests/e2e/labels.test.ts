import { CheckResultRequest, CheckResultResponse, Decision, paths } from '@reeve/contract';
import type { Problem, RouteOutput, Routes } from '@reeve/contract/http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeKey, registerAs } from '../harness/credentials.ts';
import type { Registered } from '../harness/gateway.ts';
import { bootstrapKey, TestGateway, toolCall } from '../harness/gateway.ts';

type Run = RouteOutput<Routes['getRun']>;
type Runs = RouteOutput<Routes['listRuns']>;
type Cleared = RouteOutput<Routes['clearRunLabels']>;

const many = Array.from({ length: 64 }, (_, at) => `l${at}`);

const policy = `
name: p
default: allow
rules:
  - { name: mail, effect: allow, tools: [read-mail, 'read-mail-*'], labels: [mail.read] }
  - { name: secret, effect: allow, tools: [read-secret], labels: [secret], labels_of: agent }
  - { name: web, effect: require_approval, tools: [browse], labels: [web] }
  - { name: never, effect: deny, tools: [read-denied], labels: [never] }
  - { name: odd, effect: allow, tools: [odd], when: 'args.missing == 1', labels: [odd] }
  - { name: many, effect: allow, tools: [many], labels: [${many.join(', ')}] }
  - { name: found, on: result, effect: allow, tools: [fetch], when: 'result.secret == true', labels: [secret] }
  - { name: tidy, on: result, effect: mask, tools: [fetch], mask: { detect: [email] }, labels: [pii] }
  - { name: no-fetch, on: result, effect: deny, tools: [fetch], when: '"mail.read" in run.labels' }
  - { name: no-post, effect: deny, tools: [post], when: '"mail.read" in run.labels' }
  - { name: ask-share, effect: require_approval, tools: [share], when: '"mail.read" in run.labels' }
  - { name: no-secret-run, effect: deny, tools: [name-run], when: 'run.id.contains("hunter2secret")' }
  - { name: no-pay, effect: deny, tools: [pay], when: 'run.labels.exists(l, l == "secret" || l == "web" || l == "odd")' }
`;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await TestGateway.start({ policies: { 'p.yaml': policy } });
});
afterAll(() => gateway[Symbol.asyncDispose]());

let count = 0;
const newAgent = () => gateway.register({ agentId: `bot-${++count}` });
const newRun = () => `run ${++count}/ü`;

function call(agent: Registered, tool: string, runId: string, members: object = {}) {
  return gateway.check(agent, { traceId: `t${++count}`, spanId: 's', runId, context: toolCall(tool), ...members });
}

function read(runId: string, query = '', bearer = bootstrapKey) {
  return gateway.api.get<Run>(`/api/v1/runs/${encodeURIComponent(runId)}?org_id=acme&team_id=core${query}`, bearer);
}

function clear<Body = Cleared>(json: object, bearer = bootstrapKey) {
  return gateway.api.post<Body>('/api/v1/runs/labels/clear', bearer, {
    org_id: 'acme',
    team_id: 'core',
    reason: 'looked at',
    ...json,
  });
}

const namesOf = ({ labels }: Pick<Run, 'labels'>) => labels.map(({ name }) => name);

describe('labels of a run', () => {
  test('are given by an allowed call, forbid later ones with a reason, and are cleared', async () => {
    const agent = await newAgent();
    const runId = newRun();
    expect((await call(agent, 'post', runId)).decision).toBe(Decision.ALLOW);
    const { opId } = await call(agent, 'read-mail', runId);
    const denied = await call(agent, 'post', runId);
    expect(denied).toMatchObject({ decision: Decision.DENY, policyRule: 'p/no-post' });
    expect(denied.reason).toContain('mail.read since ');
    expect(denied.reason).toContain(`operation ${opId}`);
    expect((await call(agent, 'post', newRun())).decision).toBe(Decision.ALLOW);

    const { body } = await read(runId);
    expect(body).toMatchObject({ run_id: runId, org_id: 'acme', team_id: 'core', agents: [agent.id.agentId] });
    expect(body).toMatchObject({ checks: 3, denied: 1, state: 'active', cost_usd: '0.00' });
    expect(body.labels).toEqual([
      { name: 'mail.read', since: expect.any(String) as string, op_id: opId, policy_rule: 'p/mail' },
    ]);
    expect(body.operations.items.map(({ resource, decision }) => [resource, decision])).toEqual([
      ['post', 'allow'],
      ['read-mail', 'allow'],
      ['post', 'deny'],
    ]);
    expect((await clear({ run_id: runId })).body).toEqual({ cleared: ['mail.read'], labels: [] });
    expect((await call(agent, 'post', runId)).decision).toBe(Decision.ALLOW);
    expect(gateway.audit().findLast(({ event_type }) => event_type === 'RunLabelsCleared')).toMatchObject({
      reason: 'looked at',
      payload: { labels: ['mail.read'], run_id: runId },
    });
    expect((await clear({ run_id: runId })).body).toEqual({ cleared: [], labels: [] });
  });

  test('are not given by what is denied, nor by a replay, and are given when people approve', async () => {
    const agent = await newAgent();
    const runId = newRun();
    await call(agent, 'read-denied', runId);
    const held = await call(agent, 'browse', runId);
    expect(held.decision).toBe(Decision.PENDING);
    expect(namesOf((await read(runId)).body)).toEqual([]);
    expect((await call(agent, 'pay', runId)).decision).toBe(Decision.ALLOW);
    await gateway.api.post(`/api/v1/approvals/${held.approvalId}/approve`, bootstrapKey, {});
    expect((await read(runId)).body.labels).toMatchObject([{ name: 'web', op_id: held.opId, policy_rule: 'p/web' }]);
    expect((await call(agent, 'pay', runId)).decision).toBe(Decision.DENY);

    await clear({ run_id: runId, labels: ['web'] });
    const [traceId] = held.opId.split(':');
    await call(agent, 'browse', runId, { traceId });
    expect(namesOf((await read(runId)).body)).toEqual([]);
  });

  test('are given by a rule whose condition fails', async () => {
    const agent = await newAgent();
    const runId = newRun();
    expect((await call(agent, 'odd', runId)).decision).toBe(Decision.ALLOW);
    expect(namesOf((await read(runId)).body)).toEqual(['odd']);
  });

  test('are at most 64', async () => {
    const agent = await newAgent();
    const runId = newRun();
    await call(agent, 'many', runId);
    expect(await call(agent, 'many', runId)).toMatchObject({ decision: Decision.ALLOW });
    expect(await call(agent, 'read-mail', runId)).toMatchObject({
      decision: Decision.DENY,
      reason: 'too many labels',
      policyRule: 'labels',
    });
    expect(namesOf((await read(runId)).body)).toEqual(many.toSorted());
  });

  test('of a run are read by the id that everybody sees, in which secrets are replaced', async () => {
    const agent = await newAgent();
    expect(await call(agent, 'name-run', 'hunter2secret')).toMatchObject({ decision: Decision.DENY });
    expect(await call(agent, 'name-run', 'password=hunter2secret')).toMatchObject({ decision: Decision.ALLOW });
  });

  test('survive a restart, and so do those of agents', async () => {
    const agent = await newAgent();
    const runId = newRun();
    await call(agent, 'read-mail', runId);
    await call(agent, 'read-secret', runId);
    const before = (await read(runId)).body;
    gateway = await gateway.restart('SIGKILL');
    const after = (await read(runId)).body;
    expect(after.labels).toEqual(before.labels);
    expect(after.agent_labels).toMatchObject([{ agent_id: agent.id.agentId, name: 'secret' }]);
    expect((await call(agent, 'post', runId)).decision).toBe(Decision.DENY);
    expect((await call(agent, 'pay', newRun())).decision).toBe(Decision.DENY);
  });
});

describe('labels by what calls bring back', () => {
  const judge = (agent: Registered, opId: string, result: string) =>
    gateway.client.call(paths.checkResult, CheckResultRequest, CheckResultResponse, {
      agentId: agent.id,
      credentialToken: agent.token,
      opId,
      resultJson: Buffer.from(result),
      isError: false,
    });

  test.each([
    ['that its rules match', '{"secret":true}', ['pii', 'secret']],
    ['that a rule does not match', '{"secret":false}', ['pii']],
    ['of which nobody can say whether they match', '[1]', ['pii', 'secret']],
    ['that is judged aside', `{"secret":true,"more":"${'x'.repeat(100_000)}"}`, ['pii', 'secret']],
  ])('are given for one %s', async (_, result, expected) => {
    const agent = await newAgent();
    const runId = newRun();
    const { opId, judgeResult } = await call(agent, 'fetch', runId);
    expect(judgeResult).toBe(true);
    const answer = await judge(agent, opId, result);
    expect(answer.labels.toSorted()).toEqual(expected);
    expect(namesOf((await read(runId)).body).toSorted()).toEqual(expected);
    await gateway.complete(agent, opId);
    expect(namesOf((await read(runId)).body).toSorted()).toEqual(expected);
  });

  test('forbid one, which gives none then', async () => {
    const agent = await newAgent();
    const runId = newRun();
    const { opId } = await call(agent, 'fetch', runId);
    await call(agent, 'read-mail', runId);
    expect(await judge(agent, opId, '{"secret":true}')).toMatchObject({ decision: Decision.DENY, labels: [] });
    expect(namesOf((await read(runId)).body)).toEqual(['mail.read']);
  });

  test('are all given for one that nobody asked about', async () => {
    const agent = await newAgent();
    const runId = newRun();
    const { opId } = await call(agent, 'fetch', runId);
    await gateway.complete(agent, opId);
    expect(namesOf((await read(runId)).body).toSorted()).toEqual(['pii', 'secret']);
    const entry = gateway.audit().findLast(({ op_id }) => op_id === opId);
    expect(entry).toMatchObject({ payload: { result_not_judged: true } });
  });
});

describe('labels of an agent', () => {
  test('count in all its runs, outlast its registration, and are cleared by its id', async () => {
    const agent = await newAgent();
    await call(agent, 'read-secret', newRun());
    expect((await call(agent, 'pay', newRun())).decision).toBe(Decision.DENY);
    expect((await call(agent, 'pay', '')).decision).toBe(Decision.DENY);
    await gateway.deregister(agent);
    const again = await gateway.register({ agentId: agent.id.agentId });
    expect((await call(again, 'pay', newRun())).decision).toBe(Decision.DENY);
    expect((await clear({ agent_id: agent.id.agentId })).body).toEqual({ cleared: ['secret'], labels: [] });
    expect((await call(again, 'pay', newRun())).decision).toBe(Decision.ALLOW);
  });

  test('its run without an id is called "-", and its labels are cleared by its id', async () => {
    const agent = await newAgent();
    await call(agent, 'read-mail', '');
    const { body } = await read('-', `&agent_id=${agent.id.agentId}`);
    expect(body).toMatchObject({ run_id: '', agent_id: agent.id.agentId, labels: [{ name: 'mail.read' }] });
    expect(body.operations.items).toHaveLength(1);
    expect((await read('-')).status).toBe(422);
    await call(agent, 'read-mail', '-');
    expect((await read('-')).body).toMatchObject({ run_id: '-', agent_id: null, labels: [{ name: 'mail.read' }] });
    expect((await clear({ agent_id: agent.id.agentId })).body).toEqual({ cleared: ['mail.read'], labels: [] });
    expect((await clear({ run_id: '-' })).body).toEqual({ cleared: ['mail.read'], labels: [] });
    expect((await clear({ agent_id: 'nobody' })).status).toBe(404);
  });
});

describe('runs', () => {
  test('are listed by label, agent and state, in pages', async () => {
    const agent = await newAgent();
    const runs = [newRun(), newRun(), newRun()];
    for (const [at, runId] of runs.entries()) {
      const { opId } = await call(agent, at === 1 ? 'read' : 'read-mail', runId);
      if (at === 0) await gateway.complete(agent, opId);
    }
    const list = async (query: string) =>
      (await gateway.api.get<Runs>(`/api/v1/runs?agent_id=${agent.id.agentId}${query}`, bootstrapKey)).body;
    const ids = async (query: string) => (await list(query)).items.map(({ run_id }) => run_id);
    expect((await ids('')).toSorted()).toEqual(runs.toSorted());
    expect((await ids('&label=mail.read')).toSorted()).toEqual(runs.filter((_, at) => at !== 1).toSorted());
    expect(await ids('&state=ended')).toEqual([runs[0]]);
    const control = { action: 'pause', scope: { run_id: runs[2] }, reason: 'wait' };
    await gateway.api.post('/api/v1/control', bootstrapKey, control);
    expect(await ids('&state=held')).toEqual([runs[2]]);
    const seen: string[] = [];
    for (let cursor = ''; ; ) {
      const page = await list(`&per_page=1${cursor}`);
      expect(page.total).toBe(3);
      seen.push(...page.items.map(({ run_id }) => run_id));
      if (page.next_cursor === null) break;
      cursor = `&cursor=${page.next_cursor}`;
    }
    expect(seen.toSorted()).toEqual(runs.toSorted());
  });

  test('have a cost in decimal digits, in the list and alone', async () => {
    const agent = await newAgent();
    const runId = newRun();
    const { opId } = await call(agent, 'read', runId, { estimatedCostMicros: 1_370_000 });
    await gateway.complete(agent, opId);
    const { body } = await gateway.api.get<Runs>(`/api/v1/runs?agent_id=${agent.id.agentId}`, bootstrapKey);
    expect(body.items).toMatchObject([{ run_id: runId, cost_usd: '1.37' }]);
    expect((await read(runId)).body).toMatchObject({ cost_usd: '1.37' });
  });

  test('have their operations in pages, in order, ended ones too', async () => {
    const agent = await newAgent();
    const runId = newRun();
    const ops = [];
    for (let at = 0; at < 5; at++) ops.push((await call(agent, `tool-${at}`, runId)).opId);
    await gateway.complete(agent, ops[0] ?? '');
    const found: string[] = [];
    for (let cursor = ''; ; ) {
      const { operations } = (await read(runId, `&per_page=2${cursor}`)).body;
      found.push(...operations.items.map(({ op_id }) => op_id));
      if (operations.next_cursor === null) break;
      cursor = `&cursor=${operations.next_cursor}`;
    }
    expect(found).toEqual(ops);
  });

  test('of another tenant do not exist, and whoever registered an agent of a run does not clear its labels', async () => {
    const team = await makeKey(gateway, { scopes: ['read', 'write'], org_id: 'acme', team_id: 'core' });
    const other = await makeKey(gateway, { scopes: ['read', 'write'], org_id: 'umbrella' });
    const id = { orgId: 'acme', teamId: 'core', agentId: `bot-${++count}` };
    const own = { id, token: (await registerAs(gateway, team.key, id)).credentialToken };
    const runId = newRun();
    await call(own, 'read-mail', runId);
    expect((await read(runId, '', other.key)).body).toMatchObject({ code: 'run_not_found' });
    expect((await clear<Problem>({ run_id: runId }, other.key)).body.code).toBe('run_not_found');
    expect((await clear<Problem>({ run_id: runId }, team.key)).body).toMatchObject({ status: 403, code: 'own_agent' });
    // Neither does leaving make it a stranger.
    await gateway.deregister(own);
    expect((await clear<Problem>({ run_id: runId }, team.key)).body).toMatchObject({ status: 403, code: 'own_agent' });
    expect((await read(runId, '', team.key)).status).toBe(200);
    expect((await clear({ run_id: runId })).body.cleared).toEqual(['mail.read']);
    expect((await clear<Problem>({ run_id: 'nobody' })).body.code).toBe('run_not_found');
  });
});

test('simulations suppose labels, and explanations know those of the moment', async () => {
  const agent = await newAgent();
  const runId = newRun();
  const asked = { agent: { org_id: 'acme', team_id: 'core', agent_id: agent.id.agentId }, action_type: 'tool_call' };
  const simulate = async (members: object) => {
    const json = { ...asked, context: { tool_name: 'post' }, ...members };
    return (await gateway.api.post<{ decision: string }>('/api/v1/policies/simulate', bootstrapKey, json)).body;
  };
  expect(await simulate({ run_id: runId })).toMatchObject({ decision: 'allow' });
  expect(await simulate({ run_id: runId, run: { labels: ['mail.read'] } })).toMatchObject({ decision: 'deny' });
  expect(await simulate({ run_id: runId, run: { labels: ['mail.read'] } })).toMatchObject({
    reason: expect.stringMatching(/; this run bears mail\.read$/) as string,
  });
  const read = await call(agent, 'read-mail', runId);
  const bears = new RegExp(`this run bears mail\\.read since \\S+ \\(operation ${read.opId}, rule p/mail\\)$`);
  expect(await simulate({ run_id: runId })).toMatchObject({
    decision: 'deny',
    reason: expect.stringMatching(bears) as string,
  });
  expect(await call(agent, 'share', runId)).toMatchObject({
    decision: Decision.PENDING,
    reason: expect.stringMatching(bears) as string,
  });
  const { opId } = await call(agent, 'post', runId);
  await clear({ run_id: runId });
  const explained = await gateway.api.get<RouteOutput<Routes['explainDecision']>>(
    `/api/v1/decisions/${encodeURIComponent(`acme/core/${agent.id.agentId}/${opId}`)}/explain`,
    bootstrapKey,
  );
  expect(explained.body.rules.find(({ rule }) => rule === 'no-post')).toMatchObject({ matched: true });
  expect(explained.body.reason).toMatch(bears);
});
