import { createHash } from 'node:crypto';
import type { ActionContext, CheckActionRequest as CheckRequest } from '@reeve/contract';
import { ActionType, CheckActionRequest, CheckActionResponse, paths } from '@reeve/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ControlStream } from '../harness/control-stream.ts';
import type { Registered } from '../harness/gateway.ts';
import { allowAll, bootstrapKey, checkRequest, TestGateway, toolCall } from '../harness/gateway.ts';

let gateway: TestGateway;
let agent: Registered;
beforeAll(async () => {
  gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
  agent = await gateway.register({ agentId: 'a' });
});
afterAll(() => gateway[Symbol.asyncDispose]());

const x = (length: number) => 'x'.repeat(length);
const noJson = new Uint8Array();

type Described = Partial<Pick<CheckRequest, 'actionType' | 'context' | 'summary' | 'runId'>>;

function acting(actionType: ActionType, action: ActionContext['action']): Described {
  return { actionType, context: { action } };
}

const tool = { toolName: 't', toolSource: '', argsJson: noJson, targetUrl: '' };
const result = { toolName: 't', toolSource: '', resultJson: noJson, sourceUrl: '' };
const call = (value: Partial<typeof tool>) =>
  acting(ActionType.TOOL_CALL, { $case: 'toolCall', value: { ...tool, ...value } });
const came = (value: Partial<typeof result>) =>
  acting(ActionType.TOOL_RESULT, { $case: 'toolResult', value: { ...result, ...value } });

/** Each text of a check, by name and maximum length. */
const texts: readonly [field: string, most: number, of: (text: string) => Described][] = [
  ['context.tool_call.tool_name', 512, (toolName) => call({ toolName })],
  ['context.tool_call.tool_source', 512, (toolSource) => call({ toolSource })],
  ['context.tool_call.target_url', 8192, (targetUrl) => call({ targetUrl })],
  ['context.tool_result.tool_name', 512, (toolName) => came({ toolName })],
  ['context.tool_result.source_url', 8192, (sourceUrl) => came({ sourceUrl })],
  [
    'context.llm_call.model',
    512,
    (model) => acting(ActionType.LLM_CALL, { $case: 'llmCall', value: { model, promptTokens: 1, maxOutputTokens: 1 } }),
  ],
  [
    'context.file_op.operation',
    512,
    (operation) => acting(ActionType.FILE_OPERATION, { $case: 'fileOp', value: { operation, path: '/a' } }),
  ],
  [
    'context.file_op.path',
    8192,
    (path) => acting(ActionType.FILE_OPERATION, { $case: 'fileOp', value: { operation: 'read', path } }),
  ],
  [
    'context.network_call.host',
    512,
    (host) => acting(ActionType.NETWORK_CALL, { $case: 'networkCall', value: { host, port: 1, protocol: '' } }),
  ],
  [
    'context.network_call.protocol',
    512,
    (protocol) => acting(ActionType.NETWORK_CALL, { $case: 'networkCall', value: { host: 'h', port: 1, protocol } }),
  ],
  [
    'context.process_exec.command',
    8192,
    (command) =>
      acting(ActionType.PROCESS_EXEC, { $case: 'processExec', value: { command, args: [], workingDir: '' } }),
  ],
  [
    'context.process_exec.args',
    8187,
    (last) =>
      acting(ActionType.PROCESS_EXEC, {
        $case: 'processExec',
        value: { command: 'ls', args: ['a', last], workingDir: '' },
      }),
  ],
  [
    'context.process_exec.working_dir',
    8192,
    (workingDir) =>
      acting(ActionType.PROCESS_EXEC, { $case: 'processExec', value: { command: 'ls', args: [], workingDir } }),
  ],
  ['summary', 8192, (summary) => ({ summary })],
  ['run_id', 128, (runId) => ({ runId })],
];

describe.each(texts)('%s', (field, most, of) => {
  test(`may have ${most} characters and no more`, async () => {
    expect(await gateway.check(agent, of(x(most)))).toMatchObject({ decision: 1 });
    const before = gateway.audit().length;
    await expect(gateway.check(agent, of(x(most + 1)))).rejects.toMatchObject({
      code: 3,
      details: expect.stringMatching(new RegExp(`^${field}: .*at most (${most}|8192) characters`)),
    });
    expect(gateway.audit()).toHaveLength(before);
  });

  test('is named with its index in a batch, and denied in a stream, which goes on', async () => {
    const requests = [checkRequest(agent), checkRequest(agent, of(x(most + 1)))];
    const batch = gateway.batch(requests);
    await expect(batch).rejects.toMatchObject({
      code: 3,
      details: expect.stringMatching(new RegExp(`^requests\\[1\\]\\.${field.replaceAll('.', '\\.')}: `)),
    });
    const stream = gateway.client.stream(paths.checkStream, CheckActionRequest, CheckActionResponse);
    const answers: CheckActionResponse[] = [];
    stream.on('data', (answer: CheckActionResponse) => answers.push(answer));
    const ended = new Promise((resolve) => stream.once('end', resolve));
    for (const request of requests.toReversed()) stream.write(request);
    stream.end();
    await ended;
    expect(answers).toMatchObject([
      { decision: 2, reason: expect.stringMatching(new RegExp(`^invalid request: ${field}: `)), opId: '' },
      { decision: 1 },
    ]);
  });
});

test.each<[string, object, string]>([
  ['a name', { name: x(513) }, 'name'],
  ['a framework', { framework: x(513) }, 'framework'],
  ['a tool', { toolNames: [x(513)] }, 'tool_names[0]'],
  ['a token', { credentialToken: x(513) }, 'credential_token'],
])('%s that is too long is refused when an agent registers, by its name', async (_what, extra, field) => {
  await expect(gateway.register({ agentId: 'b' }, extra)).rejects.toMatchObject({
    code: 3,
    details: expect.stringContaining(`${field}: must be at most 512 characters`),
  });
});

test('an agent with names as long as they may be is registered', async () => {
  const extra = { name: x(512), framework: x(512), toolNames: [x(512)] };
  expect((await gateway.register({ agentId: 'long' }, extra)).token).not.toBe('');
});

test('a detail, and a reason to leave, may have 8,192 characters and no more', async () => {
  const { opId } = await gateway.check(agent);
  await expect(gateway.complete(agent, opId, { detail: x(8193) })).rejects.toMatchObject({
    code: 3,
    details: 'detail: must be at most 8192 characters',
  });
  await gateway.complete(agent, opId, { detail: x(8192) });
});

test('what is too long is a 422 that names the member over HTTP, in simulations as well', async () => {
  const simulate = async (context: object) => {
    const json = { agent: { org_id: 'acme', team_id: 'core', agent_id: 'a' }, action_type: 'tool_call', context };
    return await gateway.api.post('/api/v1/policies/simulate', bootstrapKey, json);
  };
  expect(await simulate({ tool_name: x(512) })).toMatchObject({ status: 200 });
  expect(await simulate({ tool_name: x(513) })).toMatchObject({
    status: 422,
    body: { code: 'validation_failed', errors: [{ pointer: '/context/tool_call/tool_name' }] },
  });
});

test('arguments may fill the message, and are judged whole', async () => {
  const big = toolCall('upload', { content: x(4_000_000), last: 'here' });
  expect(await gateway.check(agent, { context: big })).toMatchObject({ decision: 1 });
});

describe('a reason that an agent is told has at most 1,024 characters', () => {
  test('in a refusal that quotes what was asked for, and the hint after it is there', async () => {
    await using strict = await TestGateway.start({
      policies: { 'p.yaml': 'name: p\nrules: [{ name: ok, effect: allow, paths: [/tmp/**] }]\n' },
    });
    const bot = await strict.register({ agentId: 'a' });
    const of = texts.find(([field]) => field === 'context.file_op.path')?.[2];
    const { decision, reason } = await strict.check(bot, of?.(`/${x(8191)}`));
    expect(decision).toBe(2);
    expect(reason.length).toBeLessThanOrEqual(1024);
    expect(reason).toContain('allowed here: file_operation of /tmp/**');
    expect(String(strict.audit().at(-1)?.reason).length).toBeLessThanOrEqual(1024);
  });

  test('in a control message and in the answer to a check that was stopped, while the log keeps all of it', async () => {
    const bot = await gateway.register({ agentId: 'stopped' });
    const stream = await ControlStream.open(gateway, bot);
    const { opId } = await gateway.check(bot, { traceId: 'stop', spanId: 's' });
    const path = `/api/v1/ops/${encodeURIComponent(opId)}/terminate`;
    const { body } = await gateway.api.post<{ op: { reason: string } }>(path, bootstrapKey, { reason: x(8192) });
    expect(body.op.reason).toHaveLength(8192);
    await stream.heard(1);
    expect(stream.messages[0]?.reason).toBe(`${x(1023)}…`);
    const again = await gateway.check(bot, { traceId: 'stop', spanId: 's' });
    expect(again).toMatchObject({ decision: 2, reason: `${x(1023)}…` });
  });
});

test('the log keeps arguments and results up to 16 KiB, and longer ones by their bytes and digest as they were sent', async () => {
  const kept = async (argsJson: Uint8Array<ArrayBuffer>) => {
    await gateway.check(agent, call({ argsJson }));
    const payload = gateway.audit().at(-1)?.payload as { action: { args: unknown } } | undefined;
    return payload?.action.args;
  };
  const text = 'é'.repeat(8191);
  expect(await kept(Buffer.from(JSON.stringify(text)))).toBe(text);
  const long = Buffer.from(`${JSON.stringify(text)} `);
  const sha256 = createHash('sha256').update(long).digest('hex');
  expect(await kept(long)).toEqual({ omitted_bytes: 16_385, sha256 });
  await gateway.check(agent, came({ resultJson: long }));
  expect(gateway.audit().at(-1)?.payload).toMatchObject({ action: { args: { omitted_bytes: 16_385, sha256 } } });
});
