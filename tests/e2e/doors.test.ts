import { Via_Door as Door } from '@reeve/contract';
import type { CheckActionRequest } from '@reeve/contract';
import type { RouteOutput, Routes } from '@reeve/contract/http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EventSocket } from '../harness/event-socket.ts';
import type { Registered } from '../harness/gateway.ts';
import { bootstrapKey, TestGateway, toolCall } from '../harness/gateway.ts';

type Op = RouteOutput<Routes['getOp']>;
type List = RouteOutput<Routes['listOps']>;

const policy = `
name: doors
default: allow
rules:
  - { name: careful, effect: deny, tools: ["*"], when: 'has(action.annotations.destructiveHint) && action.annotations.destructiveHint == true' }
`;

let gateway: TestGateway;
let agent: Registered;
beforeAll(async () => {
  gateway = await TestGateway.start({ policies: { 'doors.yaml': policy } });
  agent = await gateway.register({ agentId: 'coder' });
});
afterAll(() => gateway[Symbol.asyncDispose]());

async function opOf(id: string): Promise<Op> {
  return (await gateway.api.get<Op>(`/api/v1/ops/${id}`, bootstrapKey)).body;
}

function annotated(annotations: string | Uint8Array): CheckActionRequest['context'] {
  const context = toolCall('delete_repo', { name: 'x' });
  if (context.action?.$case !== 'toolCall') throw new Error('it is a tool call');
  return {
    action: { $case: 'toolCall', value: { ...context.action.value, annotationsJson: Buffer.from(annotations) } },
  };
}

describe('the door that an action came through', () => {
  test('is with the operation, in events and in the entry, also after the gateway was killed', async () => {
    const socket = await EventSocket.open(gateway.http, { query: { types: 'ops_change' } });
    const { opId } = await gateway.check(agent, { traceId: 'm', spanId: '1', via: { door: Door.MCP, name: 'github' } });
    const via = { door: 'mcp', name: 'github' };
    expect(await opOf(opId)).toMatchObject({ via });
    const running = await socket.until((event) => JSON.stringify(event).includes('"state":"running"'));
    expect(running.payload).toMatchObject({ op: { op_id: opId, via } });
    socket.close();
    expect(gateway.audit().at(-1)?.payload).toMatchObject({ via });
    await gateway.check(agent, { traceId: 'm', spanId: '2' });
    expect(gateway.audit().at(-1)?.payload).not.toHaveProperty('via');
    gateway = await gateway.restart('SIGKILL');
    expect(await opOf(opId)).toMatchObject({ state: 'running', via });
    expect(await opOf('m:2')).toMatchObject({ via: null });
  });

  test('filters lists', async () => {
    await gateway.check(agent, { traceId: 'f', spanId: 'hook', runId: 'f', via: { door: Door.HOOK, name: 'codex' } });
    await gateway.check(agent, { traceId: 'f', spanId: 'model', runId: 'f', via: { door: Door.MODEL, name: '' } });
    await gateway.check(agent, { traceId: 'f', spanId: 'sdk', runId: 'f' });
    for (const door of ['hook', 'model', 'sdk']) {
      const { body } = await gateway.api.get<List>(`/api/v1/ops?run_id=f&door=${door}`, bootstrapKey);
      expect(body.items.map(({ op_id: id }) => id)).toEqual([`f:${door}`]);
    }
    expect((await gateway.api.get('/api/v1/ops?door=window', bootstrapKey)).status).toBe(422);
  });

  test.each([
    ['an unknown door', { door: 9 as Door, name: 'x' }, 'via.door'],
    ['a name without a door', { door: Door.DOOR_UNSPECIFIED, name: 'x' }, 'via.door'],
    ['a long name', { door: Door.MCP, name: 'x'.repeat(513) }, 'via.name'],
  ])('%s is refused', async (_what, via, member) => {
    await expect(gateway.check(agent, { via })).rejects.toThrow(member);
  });

  test('no door and no name is the agent itself', async () => {
    const { opId } = await gateway.check(agent, { via: { door: Door.DOOR_UNSPECIFIED, name: '' } });
    expect(await opOf(opId)).toMatchObject({ via: null });
  });
});

describe('annotations of a tool', () => {
  test('are seen by conditions and kept with the action, without secrets', async () => {
    const secret = `ghp_${'a1B2c3D4e5F6g7H8i9J0'.repeat(2).slice(0, 36)}`;
    const annotations = JSON.stringify({ destructiveHint: true, title: secret });
    const answer = await gateway.check(agent, { traceId: 'a', spanId: '1', context: annotated(annotations) });
    expect(answer).toMatchObject({ policyRule: 'doors/careful' });
    const entry = gateway.audit().at(-1);
    expect(entry?.payload).toMatchObject({ action: { annotations: { destructiveHint: true } } });
    expect(JSON.stringify(entry)).not.toContain(secret);
    const calm = await gateway.check(agent, { context: annotated('{"destructiveHint": false}') });
    expect(calm).toMatchObject({ policyRule: 'default' });
    expect(await gateway.check(agent, { context: annotated('') })).toMatchObject({ policyRule: 'default' });
  });

  test('are part of the request: an operation is not repeated with others', async () => {
    const ids = { traceId: 'a', spanId: '2' };
    await gateway.check(agent, { ...ids, context: annotated('{"readOnlyHint":true}') });
    const again = await gateway.check(agent, { ...ids, context: annotated('{"readOnlyHint":false}') });
    expect(again.reason).toBe('operation id was used for another request');
  });

  test.each([
    ['a list', '[]'],
    ['no JSON', '{'],
    ['no UTF-8', new Uint8Array([0xff, 0xfe])],
    ['4097 bytes', JSON.stringify({ a: 'x'.repeat(4089) })],
  ])('%s is refused', async (_what, annotations) => {
    await expect(gateway.check(agent, { context: annotated(annotations) })).rejects.toThrow('annotations_json');
  });

  test('may be given to a simulation and to cases, and are explained', async () => {
    const simulate = async (context: object) => {
      const json = { agent: { org_id: 'acme', team_id: 'core', agent_id: 'coder' }, action_type: 'tool_call', context };
      return (await gateway.api.send('POST', '/api/v1/policies/simulate', { bearer: bootstrapKey, json })).body;
    };
    const denied = { decision: 'deny', policy_rule: 'doors/careful' };
    expect(await simulate({ tool_name: 't', annotations: { destructiveHint: true } })).toMatchObject(denied);
    expect(await simulate({ tool_name: 't', annotations_json: '{"destructiveHint":true}' })).toMatchObject(denied);
    expect(await simulate({ tool_name: 't' })).toMatchObject({ decision: 'allow' });
    const cases = `cases:\n  - case: hint\n    agent: acme/core/coder\n    action: {type: tool_call, tool: t, annotations: {destructiveHint: true}}\n    decision: deny\n`;
    const tested = await gateway.api.send('POST', '/api/v1/policies/test', { bearer: bootstrapKey, json: { cases } });
    expect(tested, tested.text).toMatchObject({ status: 200, body: { passed: 1, failed: 0 } });
    const explained = await gateway.api.get('/api/v1/decisions/a:1/explain', bootstrapKey);
    expect(explained.body).toMatchObject({ policy_rule: 'doors/careful', rules: [{ rule: 'careful', matched: true }] });
  });
});
