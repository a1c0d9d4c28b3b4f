import type { Problem } from '@reeve/contract/http';
import { expect, test } from 'vitest';
import { allowAll, bootstrapKey, TestGateway } from '../harness/gateway.ts';

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
