import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { CheckActionRequest as CheckRequest, CheckActionResponse as CheckResponse } from '@reeve/contract';
import { CheckActionRequest, CheckActionResponse } from '@reeve/contract';
import { CheckResultRequest, CheckResultResponse, Decision, paths } from '@reeve/contract';
import type { RouteOutput, Routes } from '@reeve/contract/http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Registered } from '../harness/gateway.ts';
import { bootstrapKey, checkRequest, TestGateway } from '../harness/gateway.ts';

type Approval = RouteOutput<Routes['getApproval']>;

const policy = `
name: house
default: deny
rules:
  - name: search
    effect: allow
    tools: [search]
    rewrite:
      limit: 'has(args.limit) && args.limit < 10.0 ? args.limit : 10.0'
      options.safe: 'true'
  - { name: never, effect: deny, tools: [search], when: args.options.safe != true }
  - { name: pay, effect: allow, tools: [pay], rewrite: { memo: '"by " + agent.agent_id' } }
  - { name: ask, effect: require_approval, tools: [pay] }
  - { name: capped, on: result, effect: deny, tools: [search], when: args.limit == 10.0 }
`;

let gateway: TestGateway;
let agent: Registered;
beforeAll(async () => {
  gateway = await TestGateway.start({ policies: { 'house.yaml': policy } });
  agent = await gateway.register({ orgId: 'acme', agentId: 'bot' });
});
afterAll(() => gateway[Symbol.asyncDispose]());

/** With its options, so that the rule that denies judges them alike before and after. */
const sent = '{"id":12345678901234567890, "q":"x","limit": 500,"options":{"safe":true}}';
const after = '{"id":12345678901234567890,"q":"x","limit":10,"options":{"safe":true}}';

function call(spanId: string, members: Partial<CheckRequest> = {}, json = sent, toolName = 'search'): CheckRequest {
  const value = { toolName, toolSource: '', argsJson: Buffer.from(json), targetUrl: '' };
  const context = { action: { $case: 'toolCall', value } } as const;
  return checkRequest(agent, { traceId: 'r', spanId, context, canRewrite: true, ...members });
}

function textOf({ argsJson }: CheckResponse): string | undefined {
  return argsJson === undefined ? undefined : Buffer.from(argsJson).toString();
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

test('a check, a batch and a stream answer with the arguments to act with', async () => {
  const one = await gateway.check(agent, call('one'));
  expect([one.decision, textOf(one)]).toEqual([Decision.ALLOW, after]);
  const responses = await gateway.batch([call('two'), call('three', {}, '{"limit":5,"options":{"safe":true}}')]);
  expect(responses.map(textOf)).toEqual([after, undefined]);
  expect(responses.map(({ decision }) => decision)).toEqual([Decision.ALLOW, Decision.ALLOW]);
  const stream = gateway.client.stream(paths.checkStream, CheckActionRequest, CheckActionResponse);
  stream.write(call('four'));
  const [streamed] = (await once(stream, 'data')) as [CheckResponse];
  expect([streamed.decision, textOf(streamed)]).toEqual([Decision.ALLOW, after]);
  stream.end();
});

test('a caller that does not say that it can is refused, as older ones do not', async () => {
  const answer = await gateway.check(agent, call('old', { canRewrite: false }));
  expect(answer).toMatchObject({
    decision: Decision.DENY,
    reason: 'must be rewritten, which this caller cannot do',
    policyRule: 'house/search',
    opState: 'terminated',
  });
  expect(textOf(answer)).toBeUndefined();
});

test('rules on results see the call as it ran', async () => {
  const judged = async (spanId: string, json: string) => {
    const { opId } = await gateway.check(agent, call(spanId, {}, json));
    const request = { agentId: agent.id, credentialToken: agent.token, opId, resultJson: Buffer.from('1') };
    const answer = await gateway.client.call(paths.checkResult, CheckResultRequest, CheckResultResponse, {
      ...request,
      isError: false,
    });
    return answer.decision;
  };
  expect(await judged('brought', '{"limit":500,"options":{"safe":true}}')).toBe(Decision.DENY);
  expect(await judged('brought-less', '{"limit":5,"options":{"safe":true}}')).toBe(Decision.ALLOW);
});

test('the entry has both digests, and the arguments before and after', async () => {
  await gateway.check(agent, call('logged'));
  const entry = gateway.audit().find(({ op_id }) => op_id === 'r:logged');
  expect(entry?.payload).toMatchObject({
    args_sha256: sha256(sent),
    rewritten_args_sha256: sha256(after),
    rewritten_args: { q: 'x', limit: 10, options: { safe: true } },
    action: { args: { limit: 500 } },
  });
});

test('whoever approves sees what will run, and the agent then gets it, also after a restart', async () => {
  await using own = await TestGateway.start({ policies: { 'house.yaml': policy } });
  const bot = await own.register({ orgId: 'acme', agentId: 'bot' });
  const pay = { ...call('pay', {}, '{"amount":5}', 'pay'), agentId: bot.id, credentialToken: bot.token };
  const paid = '{"amount":5,"memo":"by bot"}';
  const held = await own.check(bot, pay);
  expect([held.decision, textOf(held)]).toEqual([Decision.PENDING, paid]);
  const path = `/api/v1/approvals/${held.approvalId}`;
  const { body } = await own.api.get<Approval>(path, bootstrapKey);
  expect(body.action).toMatchObject({ args: { amount: 5, memo: 'by bot' } });
  const next = await own.restart('SIGKILL', { policies: { 'house.yaml': policy } });
  expect((await next.api.post(`${path}/approve`, bootstrapKey, {})).status).toBe(200);
  const answer = await next.check(bot, pay);
  expect([answer.decision, textOf(answer)]).toEqual([Decision.ALLOW, paid]);
  expect(await next.check(bot, { ...pay, canRewrite: false })).toMatchObject({
    decision: Decision.DENY,
    reason: 'must be rewritten, which this caller cannot do',
  });
  await next.kill();
});

test('a simulation and an explanation say what the check says, and what the arguments become', async () => {
  const text = '{"limit":500,"options":{"safe":true}}';
  const simulated = async (more: object, json = text) => {
    const body = {
      agent: { org_id: 'acme', agent_id: 'bot' },
      action_type: 'tool_call',
      context: { tool_name: 'search', args_json: json },
      ...more,
    };
    return (
      await gateway.api.post<RouteOutput<Routes['simulatePolicy']>>('/api/v1/policies/simulate', bootstrapKey, body)
    ).body;
  };
  const rewritten = { limit: 10, options: { safe: true } };
  expect(await simulated({})).toMatchObject({ decision: 'allow', rewritten_args: rewritten });
  expect(await simulated({}, '{"limit":5,"options":{"safe":true}}')).toMatchObject({ rewritten_args: null });
  expect(await simulated({ can_rewrite: false })).toMatchObject({
    decision: 'deny',
    reason: 'must be rewritten, which this caller cannot do',
    policy_rule: 'house/search',
  });
  const candidate = `${policy}  - { name: ten, effect: deny, tools: [search], when: args.limit == 10.0 }\n`;
  expect(await simulated({ candidate })).toMatchObject({ decision: 'deny', policy_rule: 'house/ten' });
  await gateway.check(agent, call('explained', {}, text));
  const { body } = await gateway.api.get('/api/v1/decisions/r:explained/explain', bootstrapKey);
  expect(body).toMatchObject({ decision: 'allow', rewritten_args: rewritten });
});
