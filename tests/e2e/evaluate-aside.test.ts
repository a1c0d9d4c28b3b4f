import type { Problem } from '@reeve/contract/http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeKey } from '../harness/credentials.ts';
import { eventually } from '../harness/eventually.ts';
import type { Registered } from '../harness/gateway.ts';
import { allowAll, bootstrapKey, TestGateway, toolCall } from '../harness/gateway.ts';
import { Policies } from '../harness/policies.ts';

let gateway: TestGateway;
let bot: Registered;
beforeAll(async () => {
  const env = { SVC_EVALUATION_SECS: '1' };
  gateway = await TestGateway.start({ policies: { 'test.yaml': allowAll }, env, fromSources: true });
  bot = await gateway.register({ agentId: 'bot' });
});
afterAll(() => gateway[Symbol.asyncDispose]());

/** Its conditions use the whole cost limit of a decision, each time. */
const heavy = `rules:\n${Array.from({ length: 1000 }, (_, at) => `- {name: r${at}, effect: deny, when: "args.a.exists(x, args.a.exists(y, x + y == ${1e9 + at}))"}\n`).join('')}`;
const list = `[${Array.from({ length: 600 }, (_, at) => at).join(', ')}]`;
const cases = `cases:\n- case: one
  agent: acme/core/bot
  action: {type: tool_call, tool: x}
  arguments: {a: ${list}}
  decision: deny
  before: [{agent: acme/core/bot, action: {type: tool_call, tool: x}, arguments: {a: ${list}}, decision: deny, times: 9000}]
`;

function runCases(bearer = bootstrapKey) {
  return gateway.api.post<Problem>('/api/v1/policies/test', bearer, { cases, candidate: heavy, merge: false });
}

function simulate(bearer: string, members: object = {}) {
  return gateway.api.post<Problem & { decision: string; policy_rule: string }>('/api/v1/policies/simulate', bearer, {
    agent: { org_id: 'acme', team_id: 'core', agent_id: 'bot' },
    action_type: 'tool_call',
    context: { tool_name: 'search' },
    ...members,
  });
}

function metric(text: string, line: string): number {
  const found = text.split('\n').find((each) => each.startsWith(line));
  return Number(found?.split(' ').at(-1) ?? 0);
}

describe('evaluating what a caller sends', () => {
  test('is ended when it takes too long, and the next is answered again', { timeout: 60_000 }, async () => {
    const { status, body } = await runCases();
    expect([status, body.code]).toEqual([422, 'too_expensive']);
    expect(body.detail).toContain('1 s');
    const after = await simulate(bootstrapKey);
    expect([after.status, after.body.decision]).toEqual([200, 'allow']);
    const { text } = await gateway.api.get('/metrics');
    expect(metric(text, 'reeve_evaluations_ended_total{why="deadline"}')).toBe(1);
  });

  test('leaves decisions alone meanwhile', { timeout: 60_000 }, async () => {
    const state = { isOver: false };
    const running = runCases().finally(() => (state.isOver = true));
    let decided = 0;
    while (!state.isOver) {
      await gateway.check(bot);
      decided++;
    }
    expect((await running).status).toBe(422);
    expect(decided).toBeGreaterThan(10);
  });

  test('goes on twice at a time for each tenant, and not at all beyond', { timeout: 60_000 }, async () => {
    const acme = (await makeKey(gateway, { org_id: 'acme' })).key;
    const slow = (key: string) =>
      simulate(key, {
        candidate: `scope: org:acme\n${heavy}`,
        context: { tool_name: 'x', args: { a: Array.from({ length: 600 }, (_, at) => at) } },
      });
    // Two run and 32 wait, so 40 are too many on any machine.
    const answers = await Promise.all(Array.from({ length: 40 }, () => slow(acme)));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    for (const { headers, body } of refused) {
      expect([headers.get('retry-after'), body.code]).toEqual(['1', 'rate_limited']);
    }
    const admitted = answers.filter(({ status }) => status !== 429);
    expect(admitted.length).toBeGreaterThanOrEqual(2);
    // Whether any of them takes longer than a second depends on the machine.
    for (const { status } of admitted) expect([200, 422]).toContain(status);
    const globex = (await makeKey(gateway, { org_id: 'globex' })).key;
    const [others, own] = await Promise.all([
      simulate(globex, { agent: { org_id: 'globex', agent_id: 'x' } }),
      simulate(acme),
    ]);
    expect([others.status, own.status]).toEqual([200, 200]);
  });

  test('of one tenant leaves a thread to the others', { timeout: 60_000 }, async () => {
    const globex = await makeKey(gateway, { org_id: 'globex' });
    const other = { agent: { org_id: 'globex', team_id: 'core', agent_id: 'bot' } };
    // A thread that has just been ended takes a moment to start again, so not every round tells.
    await eventually(async () => {
      const ended: string[] = [];
      const heavyOnes = Array.from({ length: 2 }, async () => {
        expect((await runCases()).body.code).toBe('too_expensive');
        ended.push('heavy');
      });
      expect((await simulate(globex.key, other)).status).toBe(200);
      ended.push('light');
      await Promise.all(heavyOnes);
      expect(ended[0]).toBe('light');
    }, 10);
  });

  test('that is light and comes all at once is answered, one after the other', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => simulate(bootstrapKey)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  });

  test('sees what is true when its turn comes', async () => {
    const policies = new Policies(gateway);
    for (let time = 0; time < 3; time++) {
      await policies.put('mine', `rules: [{name: r${time}, effect: deny, tools: [tool${time}]}]`);
      const { body } = await simulate(bootstrapKey, { context: { tool_name: `tool${time}` } });
      expect(body.policy_rule).toBe(`mine/r${time}`);
      expect((await gateway.check(bot, { context: toolCall(`tool${time}`) })).policyRule).toBe(`mine/r${time}`);
    }
    await policies.delete('mine');
    expect((await simulate(bootstrapKey, { context: { tool_name: 'tool2' } })).body.decision).toBe('allow');
  });
});

test('a stop does not wait for an evaluation', { timeout: 60_000 }, async () => {
  const own = await TestGateway.start({
    policies: { 'test.yaml': allowAll },
    env: { SVC_EVALUATION_SECS: '600', SVC_DRAIN_SECS: '1' },
  });
  const running = fetch(`${own.http}/api/v1/policies/test`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bootstrapKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ cases, candidate: heavy, merge: false }),
  }).then(
    ({ status }) => status,
    () => 0,
  );
  await eventually(async () => expect((await fetch(`${own.http}/healthz`)).status).toBe(200));
  expect(await own.kill('SIGTERM')).toBe(0);
  expect([0, 503]).toContain(await running);
});
