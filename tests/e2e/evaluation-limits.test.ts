import type { Problem } from '@reeve/contract/http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeKey } from '../harness/credentials.ts';
import { patience } from '../harness/eventually.ts';
import { allowAll, bootstrapKey, TestGateway } from '../harness/gateway.ts';
import { Policies } from '../harness/policies.ts';

let gateway: TestGateway;
let viewer: string;
let tenant: string;
beforeAll(async () => {
  // The limits of these tests are of size. The one of time is the usual one, but for code that is measured.
  const env = { SVC_EVALUATION_SECS: String(5 * patience) };
  gateway = await TestGateway.start({ policies: { 'test.yaml': allowAll }, env });
  viewer = (await makeKey(gateway)).key;
  tenant = (await makeKey(gateway, { org_id: 'acme' })).key;
});
afterAll(() => gateway[Symbol.asyncDispose]());

const asked = '{agent: acme/core/bot, action: {type: tool_call, tool: search}';

function casesWith(before: string): string {
  return `cases:\n- {case: one, agent: acme/core/bot, action: {type: tool_call, tool: x}, decision: allow, before: ${before}}\n`;
}

function runCases(cases: string) {
  return gateway.api.post<Problem & { passed: number }>('/api/v1/policies/test', viewer, { cases });
}

describe('a file of cases makes at most 10,000 checks', () => {
  test.each([
    ['by "times"', casesWith(`[${asked}, times: 9007199254740991}]`)],
    ['by several "times" together', casesWith(`[${asked}, times: 5000}, ${asked}, times: 5000}]`)],
    ['by aliases', casesWith(`[&b ${asked}, times: 3000}, *b, *b, *b]`)],
  ])('%s', async (_, cases) => {
    const { status, body } = await runCases(cases);
    expect([status, body.code]).toEqual([422, 'policy_invalid']);
    expect(body.errors?.map(({ message }) => message)).toEqual([
      'one file of cases makes at most 10000 checks, "times" included; divide it',
    ]);
  });

  test('and those may be made', async () => {
    const { status, body } = await runCases(casesWith(`[${asked}, times: 9999}]`));
    expect([status, body.passed]).toEqual([200, 1]);
  });

  test('what aliases blow up is told as a problem', async () => {
    const doubled = Array.from({ length: 12 }, (_, at) => `a${at + 1}: &a${at + 1} [*a${at}, *a${at}]`).join(', ');
    const cases = `cases:\n- {case: one, agent: a/b/c, action: {type: tool_call, tool: x}, decision: allow, arguments: {a0: &a0 [x, x], ${doubled}}}\n`;
    const { status, body } = await runCases(cases);
    expect([status, body.code]).toEqual([422, 'policy_invalid']);
  });
});

describe('a source holds at most 2,000 rules', () => {
  const condition = Array.from({ length: 300 }, (_, at) => `args.a == '${at}'`).join(' || ');
  const repeated = (count: number) =>
    `scope: org:acme\nrules:\n- {name: r, effect: deny, when: &w "${condition}"}\n${Array.from({ length: count }, (_, at) => `- {name: r${at}, effect: deny, when: *w}\n`).join('')}`;

  test('and a condition that aliases repeat is read once', async () => {
    const { status, body } = await new Policies(gateway, tenant).validate(repeated(1800));
    expect([status, body]).toEqual([200, { valid: true, errors: [] }]);
  });

  test('one more is refused, wherever texts are taken', async () => {
    const source = repeated(2000);
    const told = 'one source holds at most 2000 rules, those of aliases included; divide it';
    const validated = await new Policies(gateway, tenant).validate(source);
    expect(validated.body.errors.map(({ message }) => message)).toEqual([told]);
    const put = await new Policies(gateway).tryPut('many', source);
    expect([put.status, put.body.errors?.[0]?.message]).toEqual([422, told]);
    const simulated = await gateway.api.post<Problem>('/api/v1/policies/simulate', bootstrapKey, {
      agent: { org_id: 'acme', team_id: 'core', agent_id: 'bot' },
      action_type: 'tool_call',
      context: { tool_name: 'x' },
      candidate: source,
    });
    expect([simulated.status, simulated.body.errors?.[0]?.message]).toEqual([422, told]);
  });
});
