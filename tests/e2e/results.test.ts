import { createHash } from 'node:crypto';
import { CheckResultRequest, CheckResultResponse, Decision, paths } from '@reeve/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Registered } from '../harness/gateway.ts';
import { TestGateway, toolCall } from '../harness/gateway.ts';

const policy = `
name: base
default: allow
rules:
  - {name: no-internals, on: result, effect: deny, tools: [read_*], when: 'result_text.contains("INTERNAL")'}
  - {name: no-admins, on: result, effect: deny, tools: [read_user], when: 'result.role == "admin"'}
  - {name: pii, on: result, effect: mask, tools: [read_*], mask: {detect: [email, card], fields: [ssn]}}
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
