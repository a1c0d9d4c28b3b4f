import { CheckActionRequest, CheckActionResponse, paths } from '@reeve/contract';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Registered } from '../harness/gateway.ts';
import { allowAll, checkRequest, TestGateway, toolCall } from '../harness/gateway.ts';

let gateway: TestGateway;
let agent: Registered;
beforeAll(async () => {
  gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
  agent = await gateway.register({ agentId: 'a' });
});
afterAll(() => gateway[Symbol.asyncDispose]());
afterEach(async () => {
  expect(await gateway.check(agent)).toMatchObject({ decision: 1 });
});

function withArgs(text: string | Uint8Array) {
  const argsJson = typeof text === 'string' ? Buffer.from(text) : text;
  return { action: { $case: 'toolCall' as const, value: { toolName: 't', toolSource: '', argsJson, targetUrl: '' } } };
}

const networkCall = { action: { $case: 'networkCall' as const, value: { host: 'h', port: 70_000, protocol: '' } } };

test.each<[string, Partial<CheckActionRequest>, RegExp]>([
  ['a colon in the trace id', { traceId: 'a:b', spanId: 'c' }, /^trace_id: /],
  ['a space in the span id', { traceId: 'a', spanId: 'b c' }, /^span_id: /],
  ['a trace id without a span id', { traceId: 'a', spanId: '' }, /^span_id: /],
  ['a span id without a trace id', { traceId: '', spanId: 'a' }, /^trace_id: /],
  ['a trace id of 129 characters', { traceId: 'a'.repeat(129), spanId: 'b' }, /^trace_id: /],
  ['an empty agent id', { agentId: { orgId: 'acme', teamId: 'core', agentId: '' } }, /^agent_id\.agent_id: /],
  ['no agent', { agentId: undefined }, /^agent_id/],
  ['a malformed org', { agentId: { orgId: 'a b', teamId: '', agentId: 'x' } }, /^agent_id\.org_id: /],
  ['a malformed caller', { callerAgentId: { orgId: '/', teamId: '', agentId: 'x' } }, /^caller_agent_id/],
  ['arguments that are no JSON', { context: withArgs('{"a":') }, /args_json: /],
  ['arguments that are no UTF-8', { context: withArgs(Uint8Array.of(0x22, 0xff, 0x22)) }, /args_json: /],
  ['arguments nested a hundred deep', { context: withArgs('['.repeat(100) + ']'.repeat(100)) }, /args_json: .*nested/],
  ['arguments nested a hundred thousand deep', { context: withArgs('['.repeat(1e5) + ']'.repeat(1e5)) }, /args_json: /],
  ['a negative cost', { estimatedCostMicros: -1 }, /^estimated_cost_micros: must not be negative/],
  ['a cost beyond counting', { estimatedCostMicros: 2 ** 60 }, /beyond 9007199254740991/],
  ['no action type', { actionType: 0, context: undefined }, /^action_type: /],
  ['an unknown action type', { actionType: 99 as never, context: undefined }, /^action_type: /],
  ['an unknown action type with a known context', { actionType: 99 as never }, /^action_type: /],
  ['a context of another action', { actionType: 1 }, /^context: /],
  ['a port beyond 65535', { actionType: 4, context: networkCall }, /port: /],
  ['a summary of 8,193 characters', { summary: 'x'.repeat(8193) }, /^summary: /],
])(
  '%s is refused with INVALID_ARGUMENT, naming what is wrong, and nothing is recorded',
  async (_what, request, message) => {
    const before = gateway.audit().length;
    await expect(gateway.check(agent, request)).rejects.toMatchObject({
      code: 3,
      details: expect.stringMatching(message),
    });
    expect(gateway.audit()).toHaveLength(before);
  },
);

test('bytes that are no message are refused with INVALID_ARGUMENT', async () => {
  const raw = { encode: (bytes: Uint8Array) => ({ finish: () => bytes }), decode: (bytes: Uint8Array) => bytes };
  const garbage = Uint8Array.of(0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f);
  const call = gateway.client.call(paths.checkAction, raw as never, CheckActionResponse, garbage as never);
  await expect(call).rejects.toMatchObject({ code: 3 });
});

test('a message over 4 MiB is refused with RESOURCE_EXHAUSTED', async () => {
  const context = withArgs(JSON.stringify('x'.repeat(5 * 1024 * 1024)));
  await expect(gateway.check(agent, { context })).rejects.toMatchObject({ code: 8 });
});

test('large arguments are judged, and recorded by their digest', async () => {
  const context = toolCall('upload', { content: 'x'.repeat(1_000_000) });
  expect(await gateway.check(agent, { context })).toMatchObject({ decision: 1 });
  expect(gateway.audit().at(-1)?.payload).toMatchObject({
    action: { args: { omitted_bytes: 1_000_014, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) } },
  });
});

test('argument members with strange names are recorded as they are, in a chain that verifies', async () => {
  const args = JSON.parse(
    '{"__proto__": {"a": 1}, "10": 1, "9": 2, "constructor": "c", "\\ud83d\\ude00": 3}',
  ) as unknown;
  await gateway.check(agent, { context: toolCall('strange', args) });
  const recorded = gateway.audit().at(-1)?.payload as { action: { args: object } };
  expect(JSON.stringify(recorded.action.args)).toContain('"__proto__":{"a":1}');
});

test('secrets in what an agent sends are not recorded', async () => {
  const secrets = [
    'sk-abcdefghijklmnopqrstuvwxyz123456',
    'ghp_abcdefghijklmnopqrstuvwxyz0123456789',
    'AKIAIOSFODNN7EXAMPLE',
    'hunter2-is-my-password',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc123def456',
  ];
  const [openai, github, aws, password, jwt] = secrets;
  const args = { note: `use ${openai}`, nested: { password, list: [github] }, apiKey: aws, header: `Bearer ${jwt}` };
  await gateway.check(agent, { context: toolCall('leaky', args), summary: `with ${github}` });
  const exec = {
    command: 'mysql',
    args: ['--password', password ?? '', `--token=${github}`],
    workingDir: `/srv/${github}`,
  };
  await gateway.check(agent, { actionType: 5, context: { action: { $case: 'processExec', value: exec } } });
  const recorded = JSON.stringify(gateway.audit().slice(-2));
  for (const secret of secrets) expect(recorded).not.toContain(secret);
  expect(recorded).toContain('[redacted]');
});

test('a deadline that has passed is DEADLINE_EXCEEDED for the caller', async () => {
  const call = gateway.client.call(paths.checkAction, CheckActionRequest, CheckActionResponse, checkRequest(agent), {
    deadlineMs: -1,
  });
  await expect(call).rejects.toMatchObject({ code: 4 });
});

test('a method that does not exist is UNIMPLEMENTED', async () => {
  const call = gateway.client.call(
    '/reeve.v1.PolicyService/Nothing',
    CheckActionRequest,
    CheckActionResponse,
    checkRequest(agent),
  );
  await expect(call).rejects.toMatchObject({ code: 12 });
});
