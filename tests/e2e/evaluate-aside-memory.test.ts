import type { Problem } from '@reeve/contract/http';
import { expect, test } from 'vitest';
import { allowAll, bootstrapKey, TestGateway } from '../harness/gateway.ts';
import { Policies } from '../harness/policies.ts';

test('what takes more memory than it may is ended, and the gateway goes on', { timeout: 240_000 }, async () => {
  await using own = await TestGateway.start({
    policies: { 'test.yaml': allowAll },
    env: { SVC_EVALUATION_SECS: '200' },
  });
  const rules = Array.from({ length: 2000 }, (_, at) => `- {name: r${at}, effect: allow}`).join('\n');
  const one = '- {case: a, agent: a/b/c, action: {type: tool_call, tool: x}, decision: allow}';
  const many = Array.from({ length: 6000 }, () => one).join('\n');
  const { status, body } = await own.api.post<Problem>('/api/v1/policies/test', bootstrapKey, {
    cases: `cases:\n${many}\n`,
    candidate: `rules:\n${rules}\n`,
    merge: false,
  });
  expect([status, body.code]).toEqual([422, 'too_expensive']);
  const { text } = await own.api.get('/metrics');
  expect(text).toMatch(/^reeve_evaluations_ended_total\{why="memory"\} 1$/m);
  const after = await own.api.post<{ valid: boolean }>('/api/v1/policies/validate', bootstrapKey, {
    source: 'rules: []',
  });
  expect(after.body.valid).toBe(true);
});

test('what is nested beyond the stack is refused or told, and ends nothing', async () => {
  const env = { SVC_EVALUATION_SECS: '1' };
  await using gateway = await TestGateway.start({ policies: { 'test.yaml': allowAll }, env, fromSources: true });
  const bot = await gateway.register({ agentId: 'bot' });
  for (const source of ['['.repeat(100_000), '{a: '.repeat(30_000), '- '.repeat(60_000), '? '.repeat(60_000)]) {
    const validated = await new Policies(gateway).validate(source);
    expect([200, 422]).toContain(validated.status);
    const put = await new Policies(gateway).tryPut('nested', source);
    expect([put.status, ['policy_invalid', 'too_expensive'].includes(put.body.code)]).toEqual([422, true]);
  }
  expect((await gateway.check(bot)).decision).toBe(1);
});
