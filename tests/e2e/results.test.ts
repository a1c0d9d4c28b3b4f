import { createHash } from 'node:crypto';
import { CheckResultRequest, CheckResultResponse, Decision, paths } from '@reeve/contract';
import type { RouteOutput, Routes } from '@reeve/contract/http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Registered } from '../harness/gateway.ts';
import { bootstrapKey, TestGateway, toolCall } from '../harness/gateway.ts';
import { GrpcClient } from '../harness/grpc-client.ts';

const policy = `
name: base
default: allow
rules:
  - {name: no-internals, on: result, effect: deny, tools: [read_*], when: 'result_text.contains("INTERNAL")'}
  - {name: no-admins, on: result, effect: deny, tools: [read_user], when: 'result.role == "admin"'}
  - {name: pii, on: result, effect: mask, tools: [read_*], mask: {detect: [email, card], fields: [ssn]}}
  - {name: numbers, on: result, effect: mask, tools: [read_contacts], mask: {detect: [phone]}}
  - {name: fine, on: result, effect: allow, tools: [list_files]}
`;

let gateway: TestGateway;
let bot: Registered;

beforeAll(async () => {
  gateway = await TestGateway.start({ policies: { 'base.yaml': policy } });
  bot = await gateway.register({ agentId: 'bot' });
});

afterAll(() => gateway[Symbol.asyncDispose]());

async function judge(opId: string, result: string | Uint8Array, over: Partial<CheckResultRequest> = {}) {
  return await gateway.client.call(paths.checkResult, CheckResultRequest, CheckResultResponse, {
    agentId: bot.id,
    credentialToken: bot.token,
    opId,
    resultJson: typeof result === 'string' ? Buffer.from(result) : result,
    isError: false,
    ...over,
  });
}

async function running(tool: string): Promise<string> {
  const { opId, decision } = await gateway.check(bot, { context: toolCall(tool) });
  expect(decision).toBe(Decision.ALLOW);
  return opId;
}

function textOf({ resultJson }: CheckResultResponse): string | undefined {
  return resultJson === undefined ? undefined : Buffer.from(resultJson).toString();
}

function entriesOf(opId: string, type: string) {
  return gateway.audit().filter((entry) => entry.op_id === opId && entry.event_type === type);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

test('phone numbers are masked as people write them', async () => {
  const numbers = '555-123-4567, (555) 123-4567, call 555 123 4567 now, phone: 5551234567, 1.800.123.4567';
  const others = 'order 1234567890 of 2024-01-15, 123-45-6789, row 100 200 3000 400';
  const answer = await judge(await running('read_contacts'), JSON.stringify([numbers, others]));
  const masked = '[masked], [masked], call [masked] now, phone: [masked], [masked]';
  expect(textOf(answer)).toBe(JSON.stringify([masked, others]));
});

describe('a check says whether rules on results could match', () => {
  test.each([
    ['read_mail', true],
    ['list_files', true],
    ['send_mail', false],
  ])('of %s: %s', async (tool, expected) => {
    const first = await gateway.check(bot, { context: toolCall(tool) });
    expect(first.judgeResult).toBe(expected);
    const [traceId = '', spanId = ''] = first.opId.split(':');
    const again = await gateway.check(bot, { traceId, spanId, context: toolCall(tool) });
    expect(again).toMatchObject({ decision: Decision.ALLOW, judgeResult: expected });
  });
});

test('a result is masked, and all other bytes stay as they were', async () => {
  const opId = await running('read_mail');
  const sent = '{ "to":"ann@example.com", "n": 1.50, "ssn": {"a": [1]}, "card":"4111 1111 1111 1111"}';
  const passed = '{ "to":"[masked]", "n": 1.50, "ssn": "[masked]", "card":"[masked]"}';
  const answer = await judge(opId, sent);
  expect(answer).toMatchObject({ decision: Decision.ALLOW, policyRule: 'base/pii', labels: [] });
  expect(textOf(answer)).toBe(passed);
  const [entry] = entriesOf(opId, 'ResultMasked');
  expect(entry).toMatchObject({
    decision: 'allow',
    policy_rule: 'base/pii',
    payload: { size: sent.length, counts: { email: 1, card: 1, field: 1 }, digest: sha256(passed), is_error: false },
  });
  expect(JSON.stringify(entry)).not.toMatch(/ann@|4111/);
});

test('a result without anything to mask passes as it is', async () => {
  const opId = await running('read_mail');
  const answer = await judge(opId, 'nothing here', { isError: true });
  expect(answer).toMatchObject({ decision: Decision.ALLOW, policyRule: 'base/pii' });
  expect(answer.resultJson).toBeUndefined();
  const [entry] = entriesOf(opId, 'ResultAllowed');
  expect(entry?.payload).toMatchObject({ size: 12, digest: sha256('nothing here'), is_error: true });
});

test('deny beats mask, and conditions see the text and the parsed result', async () => {
  const opId = await running('read_user');
  expect(await judge(opId, '{"role":"user"}')).toMatchObject({ decision: Decision.ALLOW });
  const denied = await judge(opId, '{"role":"admin","mail":"ann@example.com"}');
  expect(denied).toMatchObject({
    decision: Decision.DENY,
    policyRule: 'base/no-admins',
    reason: 'result denied by rule base/no-admins',
  });
  expect(denied.resultJson).toBeUndefined();
  // A text has no member: that fails, and counts as matching for deny.
  expect(await judge(opId, 'no JSON')).toMatchObject({ decision: Decision.DENY, policyRule: 'base/no-admins' });
  expect(await judge(opId, '{"role":"INTERNAL"}')).toMatchObject({ policyRule: 'base/no-internals' });
  const [entry] = entriesOf(opId, 'ResultDenied');
  expect(entry?.payload).not.toHaveProperty('digest');
});

test('what no rule on results is about is allowed', async () => {
  const opId = await running('send_mail');
  expect(await judge(opId, '{"to":"ann@example.com"}')).toMatchObject({
    decision: Decision.ALLOW,
    policyRule: 'default',
    resultJson: undefined,
  });
});

describe('a result that cannot be judged is denied', () => {
  test('not UTF-8', async () => {
    const answer = await judge(await running('read_mail'), Uint8Array.of(0x22, 0xff, 0xfe, 0x22));
    expect(answer).toMatchObject({ decision: Decision.DENY, reason: 'the result is not UTF-8' });
  });

  test('nested too deeply', async () => {
    const answer = await judge(await running('read_mail'), '['.repeat(5000) + ']'.repeat(5000));
    expect(answer).toMatchObject({ decision: Decision.DENY });
    expect(answer.reason).toContain('nested too deeply');
  });

  test('longer than 16 MiB', async () => {
    const answer = await judge(await running('read_mail'), 'x'.repeat(16 * 1024 * 1024 + 1));
    expect(answer).toMatchObject({ decision: Decision.DENY });
    expect(answer.reason).toContain('at most 16777216 bytes');
  });
});

test('no other call takes messages of more than 4 MiB, and this one none of more than 17', async () => {
  const opId = await running('read_mail');
  expect(await judge(opId, 'x'.repeat(5 * 1024 * 1024))).toMatchObject({ decision: Decision.ALLOW });
  const large = 'x'.repeat(5 * 1024 * 1024);
  await expect(gateway.check(bot, { context: toolCall('read_mail', { large }) })).rejects.toMatchObject({ code: 8 });
  await expect(judge(opId, 'x'.repeat(17 * 1024 * 1024))).rejects.toMatchObject({ code: 8 });
});

describe('the first message of a connection', () => {
  const first = async (opId: string, size: number, over: Partial<CheckResultRequest> = {}) => {
    const client = new GrpcClient(gateway.grpc);
    const request = { agentId: bot.id, credentialToken: bot.token, opId, isError: false, ...over };
    const resultJson = Buffer.from('x'.repeat(size));
    try {
      return await client.call(paths.checkResult, CheckResultRequest, CheckResultResponse, { ...request, resultJson });
    } finally {
      client.close();
    }
  };

  test('may bring a result of more than 4 MiB, if its token is good', async () => {
    const opId = await running('send_mail');
    expect(await first(opId, 5 * 1024 * 1024)).toMatchObject({ decision: Decision.ALLOW });
    expect(await first(opId, 16 * 1024 * 1024)).toMatchObject({ decision: Decision.ALLOW });
    await expect(first(opId, 17 * 1024 * 1024)).rejects.toMatchObject({ code: 8 });
  });

  test.each([
    ['of nobody', 16, { credentialToken: 'rva_wrong' }],
    ['that is missing', 8, { credentialToken: '' }],
    ['without an agent', 8, { agentId: undefined }],
    ['that is longer than what may come before', 8, { credentialToken: 'x'.repeat(100_000) }],
  ])('may not with a token %s: status %i', async (_, code, over) => {
    const opId = await running('send_mail');
    await expect(first(opId, 5 * 1024 * 1024, over)).rejects.toMatchObject({ code });
  });
});

test('a large result is masked as a small one is', async () => {
  const opId = await running('read_mail');
  const rows = Array.from({ length: 100_000 }, (_, at) => ({ id: at, note: `row ${at}` }));
  const sent = JSON.stringify({ rows, to: 'ann@example.com' });
  expect(sent.length).toBeGreaterThan(3_000_000);
  expect(textOf(await judge(opId, sent))).toBe(sent.replace('ann@example.com', '[masked]'));
});

describe('only results of running operations of the agent are judged', () => {
  test('not one that is unknown or another agent’s', async () => {
    await expect(judge('no:such', '1')).rejects.toMatchObject({ code: 5 });
    const other = await gateway.register({ agentId: 'other' });
    const { opId } = await gateway.check(other, { context: toolCall('read_mail') });
    await expect(judge(opId, '1')).rejects.toMatchObject({ code: 5 });
  });

  test('not one that has ended', async () => {
    const opId = await running('read_mail');
    await gateway.complete(bot, opId);
    await expect(judge(opId, '1')).rejects.toMatchObject({ code: 9 });
  });

  test('not by a token of nobody', async () => {
    const opId = await running('read_mail');
    await expect(judge(opId, '1', { credentialToken: 'x'.repeat(40) })).rejects.toMatchObject({ code: 16 });
  });
});

describe('an operation that is completed', () => {
  test('without anybody having asked says so', async () => {
    const opId = await running('read_mail');
    await gateway.complete(bot, opId);
    const [entry] = entriesOf(opId, 'OpStateChanged');
    expect(entry?.payload).toMatchObject({ result_not_judged: true });
  });

  test('after somebody has asked does not', async () => {
    const opId = await running('read_mail');
    await judge(opId, '1');
    await gateway.complete(bot, opId);
    const [entry] = entriesOf(opId, 'OpStateChanged');
    expect(entry?.payload).not.toHaveProperty('result_not_judged');
  });
});

describe('a simulation', () => {
  type Simulated = RouteOutput<Routes['simulatePolicy']>;
  const simulate = async (tool: string, members: object = {}): Promise<Simulated> => {
    const agent = { org_id: bot.id.orgId, team_id: bot.id.teamId, agent_id: bot.id.agentId };
    const json = { agent, action_type: 'tool_call', context: { tool_name: tool }, ...members };
    const answer = await gateway.api.post<Simulated>('/api/v1/policies/simulate', bootstrapKey, json);
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  };

  test('says whether the result would have to be judged', async () => {
    expect(await simulate('read_mail')).toMatchObject({ judge_result: true, result: null, labels: [] });
    expect(await simulate('send_mail')).toMatchObject({ judge_result: false, result: null });
  });

  test.each([
    ['{ "to":"ann@example.com", "n": 1.50, "ssn": 1}', 'read_mail', 'mask', 'base/pii'],
    ['{ "to":"ann@example.com", "x": "INTERNAL"}', 'read_mail', 'deny', 'base/no-internals'],
    ['{"role": "admin"}', 'read_user', 'deny', 'base/no-admins'],
    ['nothing', 'list_files', 'allow', 'base/fine'],
    ['nothing', 'send_mail', 'allow', 'default'],
  ])('judges %s of %s as it would be', async (sent, tool, effect, rule) => {
    const { result } = await simulate(tool, { result: sent, is_error: false });
    expect(result).toMatchObject({ effect, policy_rule: rule });
    const judged = await judge(await running(tool), sent);
    expect(judged).toMatchObject({ policyRule: rule, reason: result?.reason, labels: result?.labels });
    expect(textOf(judged) ?? null).toBe(result?.masked);
    expect(result?.rules.find((one) => `${one.document}/${one.rule}` === rule)?.matched ?? true).toBe(true);
  });

  test('of a call that is denied has no result', async () => {
    const candidate = 'name: base\ndefault: deny\nrules: [{name: tidy, on: result, effect: deny}]';
    expect(await simulate('read_mail', { candidate, result: '1' })).toMatchObject({
      decision: 'deny',
      judge_result: false,
      result: null,
    });
  });

  test('judges by labels that the call gives', async () => {
    const candidate = `
name: base
default: allow
rules:
  - {name: mail, effect: allow, tools: [read_mail], labels: [mail]}
  - {name: own, on: result, effect: deny, when: '"mail" in run.labels && run.checks > 0'}
  - {name: more, on: result, effect: allow, labels: [more]}
`;
    const read = await simulate('read_mail', { candidate, result: '1', run_id: 'fresh' });
    expect(read).toMatchObject({ decision: 'allow', labels: ['mail'], result: { effect: 'deny' } });
    const sent = await simulate('send_mail', { candidate, result: '1', run_id: 'fresh' });
    expect(sent).toMatchObject({ labels: [], result: { effect: 'allow', labels: ['more'] } });
  });

  test('sees no more of a call than the log would have', async () => {
    const candidate = `
name: base
default: allow
rules: [{name: short, on: result, effect: deny, when: 'args.q == "x"'}]
`;
    const context = (q: string) => ({ tool_name: 'find', args_json: JSON.stringify({ q }) });
    expect(await simulate('find', { candidate, context: context('y'), result: '1' })).toMatchObject({
      result: { effect: 'allow' },
    });
    const long = await simulate('find', { candidate, context: context('y'.repeat(20_000)), result: '1' });
    expect(long).toMatchObject({ result: { effect: 'deny', policy_rule: 'base/short' } });
    expect(long.result?.rules).toMatchObject([{ rule: 'short', matched: true }]);
  });
});

test('an explanation says what became of results, and which nobody had judged', async () => {
  type Explained = RouteOutput<Routes['explainDecision']>;
  const explain = async (opId: string) => {
    const id = encodeURIComponent(`${bot.id.orgId}/${bot.id.teamId}/${bot.id.agentId}/${opId}`);
    return (await gateway.api.get<Explained>(`/api/v1/decisions/${id}/explain`, bootstrapKey)).body;
  };
  const opId = await running('read_mail');
  await judge(opId, '"ann@example.com"', { isError: true });
  await judge(opId, 'INTERNAL');
  expect(await explain(opId)).toMatchObject({
    decision: 'allow',
    judge_result: true,
    results: [
      { effect: 'deny', policy_rule: 'base/no-internals', is_error: false, counts: {} },
      { effect: 'mask', policy_rule: 'base/pii', is_error: true, size: 17, counts: { email: 1 } },
    ],
  });
  const forgotten = await running('read_mail');
  await gateway.complete(bot, forgotten);
  expect(await explain(forgotten)).toMatchObject({
    results: [],
    notes: ['the operation was completed, and nobody had its result judged'],
  });
  expect(await explain(await running('send_mail'))).toMatchObject({ judge_result: false, results: [], notes: [] });
});
