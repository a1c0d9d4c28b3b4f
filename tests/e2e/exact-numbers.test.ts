import { ActionType, Decision } from '@reeve/contract';
import type { RouteOutput, Routes } from '@reeve/contract/http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Registered } from '../harness/gateway.ts';
import { bootstrapKey, TestGateway } from '../harness/gateway.ts';

type Approvals = RouteOutput<Routes['listApprovals']>;

const policy = `
name: p
default: deny
rules:
  - { name: that-one, effect: deny, tools: [pay], when: 'args.account == 12345678901234567' }
  - { name: among, effect: deny, tools: [among], when: 'args.accounts.exists(each, each == 1.5)' }
  - { name: member, effect: deny, tools: [member], when: 'args.account in [1, 2]' }
  - { name: kind, effect: deny, tools: [kind], when: 'type(args.account) == double' }
  - { name: whole, effect: deny, tools: [whole], when: 'args == {"account": 1}' }
  - { name: hint, effect: deny, tools: [hint], when: 'action.annotations.account == 1' }
  - { name: ask, effect: require_approval, tools: [ask] }
  - { name: small, effect: allow, tools: [small], when: 'args.account > 5' }
  - { name: other, effect: allow, tools: [other], when: 'args.path == "x"' }
  - { name: rest, effect: allow, tools: [pay, among, member, kind, whole, hint, ask] }
`;

let gateway: TestGateway;
let agent: Registered;
beforeAll(async () => {
  gateway = await TestGateway.start({ policies: { 'p.yaml': policy } });
  agent = await gateway.register({ orgId: 'acme', agentId: 'bot' });
});
afterAll(() => gateway[Symbol.asyncDispose]());

async function called(toolName: string, json: string, annotations?: string) {
  const value = { toolName, toolSource: '', targetUrl: '', argsJson: Buffer.from(json) };
  const annotationsJson = annotations === undefined ? undefined : Buffer.from(annotations);
  return gateway.check(agent, {
    actionType: ActionType.TOOL_CALL,
    context: { action: { $case: 'toolCall', value: { ...value, annotationsJson } } },
  });
}

describe('a condition that looks at a number which a double does not hold is an error', () => {
  test.each([
    ['pay', '{"account":12345678901234567}', 'p/that-one'],
    ['pay', '{"account":12345678901234568}', ''],
    ['among', '{"accounts":[1,0.1234567890123456789]}', 'p/among'],
    ['member', '{"account":1e400}', 'p/member'],
    ['kind', '{"account":9007199254740993}', 'p/kind'],
    ['whole', '{"account":1.00000000000000001}', 'p/whole'],
    ['whole', `{"account":${'1'.repeat(70_000)}}`, 'p/whole'],
    ['small', '{"account":9007199254740993}', 'default'],
    ['small', '{"account":9007199254740992}', ''],
    ['other', '{"account":9007199254740993,"path":"x"}', ''],
  ])('%s %s', async (tool, json, rule) => {
    const { decision, policyRule } = await called(tool, json);
    expect(decision === Decision.ALLOW ? '' : policyRule).toBe(rule);
  });

  test('also in what a server says of its tool', async () => {
    expect((await called('hint', '{}', '{"account":1.00000000000000001}')).policyRule).toBe('p/hint');
  });
});

test('people who decide see the digits that were sent', async () => {
  await called('ask', '{"account":12345678901234543,"token":98765432109876543210}');
  const { body } = await gateway.api.get<Approvals>('/api/v1/approvals', bootstrapKey);
  const action = body.items[0]?.action;
  expect(action).toMatchObject({ args: { account: '12345678901234543' }, inexact: true });
  expect(JSON.stringify(action)).not.toContain('98765432109876543210');
});

test('over HTTP, such a number is refused before it is rounded', async () => {
  const body = `{"agent":{"org_id":"acme","agent_id":"bot"},"action_type":"tool_call","context":{"tool_name":"pay","args":{"account":12345678901234567}}}`;
  const answer = await fetch(`${gateway.http}/api/v1/policies/simulate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bootstrapKey}`, 'content-type': 'application/json' },
    body,
  });
  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain('12345678901234567 is not the same to every reader');
});
