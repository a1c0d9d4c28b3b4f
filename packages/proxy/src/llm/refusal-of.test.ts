import type { Answer } from '@reeve/sdk';
import {
  ActionDeniedError,
  OperationTerminatedError,
  ReeveInternal,
  ReeveInvalidRequest,
  ReeveResourceExhausted,
  ReeveUnauthenticated,
  ReeveUnavailable,
} from '@reeve/sdk';
import { expect, test } from 'vitest';
import { errorBodyOf } from './refusal.ts';
import { refusalOf } from './refusal-of.ts';

const answer: Answer = {
  decision: 'deny',
  allowed: false,
  reason: 'too dear',
  policyRule: 'base/rule',
  opId: 't:s',
  traceId: 't',
  spanId: 's',
  opState: 'terminated',
  approvalId: undefined,
  judgeResult: false,
  judgePrompt: false,
  limit: undefined,
  decisionLatencyUs: 1,
  source: 'gateway',
};
const limit = { tier: 'org', period: 'day', limitMicros: 1, spentMicros: 1 } as const;
const denied = (change: Partial<Answer>) => new ActionDeniedError({ ...answer, ...change });

test.each([
  [denied({}), 403, 'policy_denied', 'too dear'],
  [denied({ limit }), 429, 'budget_exceeded', 'too dear'],
  [denied({ policyRule: 'budget/org.day' }), 429, 'budget_exceeded', 'too dear'],
  [denied({ decision: 'pending', approvalId: 'apr_1' }), 403, 'approval_pending', 'apr_1'],
  [denied({ policyRule: 'identity', reason: 'agent is suspended' }), 403, 'policy_denied', 'agent is suspended'],
  [denied({ policyRule: 'identity', reason: 'credential token mismatch' }), 401, 'invalid_api_key', 'mismatch'],
  [denied({ source: 'sdk', policyRule: '' }), 503, 'gateway_unavailable', 'Reeve is not reachable'],
  [
    new OperationTerminatedError({ opId: 'o', reason: 'rejected by ann', controlId: '' }),
    403,
    'policy_denied',
    'by ann',
  ],
  [new OperationTerminatedError({ opId: 'o', reason: 'approval expired', controlId: '' }), 403, 'approval_pending', ''],
  [new ReeveUnauthenticated('unknown'), 401, 'invalid_api_key', 'unknown'],
  [new ReeveUnavailable('away'), 503, 'gateway_unavailable', 'away'],
  [new ReeveResourceExhausted('slow down'), 503, 'overloaded', 'slow down'],
  [new ReeveInternal('odd'), 503, 'gateway_unavailable', 'Reeve'],
  [new ReeveInvalidRequest('max_output_tokens: too large'), 400, 'invalid_request', 'max_output_tokens'],
  [new TypeError('sk-secret'), 500, 'internal_error', 'the proxy has failed'],
])('%s', (error, status, code, message) => {
  const refusal = refusalOf(error);
  expect([refusal.status, refusal.code]).toEqual([status, code]);
  expect(refusal.message).toContain(message);
  expect(refusal.isFinal).toBe(code === 'budget_exceeded');
});

test('each provider has its own form', () => {
  const refusal = refusalOf(denied({ limit }));
  expect(errorBodyOf('openai', refusal)).toEqual({
    error: { message: 'Over budget: too dear', type: 'rate_limit_error', param: null, code: 'budget_exceeded' },
  });
  expect(errorBodyOf('anthropic', refusal)).toMatchObject({
    type: 'error',
    error: { type: 'rate_limit_error', message: 'Over budget: too dear' },
  });
});
