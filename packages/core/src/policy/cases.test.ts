import { expect, test } from 'vitest';
import { caseFiles, decisionCases } from '../testkit/decision-cases.ts';

/** These need a compiler of conditions, which the gateway has. Its tests run them: see decision-cases.test.ts there. */
const withConditions = new Set(['conditions.yaml', 'users.yaml']);

test('there are cases', () => {
  expect(caseFiles).toEqual(
    expect.arrayContaining([
      'approvals.yaml',
      'budgets.yaml',
      'conditions.yaml',
      'defaults.yaml',
      'globs.yaml',
      'matchers.yaml',
      'mistakes.yaml',
      'observe.yaml',
      'precedence.yaml',
      'pricing.yaml',
      'scopes.yaml',
      'users.yaml',
    ]),
  );
});

decisionCases(
  caseFiles.filter((file) => !withConditions.has(file)),
  {},
);
