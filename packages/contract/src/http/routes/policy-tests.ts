import { z } from 'zod';
import { bounds } from '../../bounds.ts';
import type { Route } from '../route.ts';

const answer = z.looseObject({ decision: z.enum(['allow', 'deny', 'pending']) });

/** Cases that state what policies must answer. */
export const policyTestRoutes = {
  testPolicies: {
    method: 'POST',
    path: '/api/v1/policies/test',
    tag: 'Policies',
    summary:
      'Judge cases (who asks for what, and what the answer must be) by the policies in force, or with a candidate, and list the rules that no case has reached. Nothing is recorded.',
    access: 'read',
    tenancy: 'unbound',
    body: z.strictObject({
      cases: z.string().max(bounds.cases),
      candidate: z.string().max(bounds.policySource).optional(),
      merge: z.boolean().default(true),
    }),
    success: {
      status: 200,
      description: 'The result of each case.',
      body: z.object({
        passed: z.int(),
        failed: z.int(),
        cases: z.array(
          z.object({
            line: z.int(),
            about: z.string(),
            case: z.string(),
            passed: z.boolean(),
            expected: answer,
            actual: answer,
            /** The members of the answer that differ from the expectation. */
            differs: z.array(z.string()),
            /** Set if an earlier step got another answer than the case states. */
            problem: z.string().nullable(),
          }),
        ),
        /** The rules that no case matched. */
        coverage: z.object({ rules: z.int(), reached: z.int(), unreached: z.array(z.string()) }),
      }),
    },
    problems: ['policy_invalid', 'too_expensive', 'overloaded'],
  },
} as const satisfies Record<string, Route>;
