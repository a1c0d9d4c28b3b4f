import { describeProblem, ReeveError } from '@reeve/core';
import type { Handlers } from '../handler.ts';
import type { PolicyEvaluator } from '../../../evaluation/policy-evaluator.ts';

export function policyTestHandlers(evaluator: PolicyEvaluator): Pick<Handlers, 'testPolicies'> {
  return {
    testPolicies: async ({ body: { cases, candidate, merge } }, { principal }) => {
      const given = candidate === undefined ? undefined : { text: candidate, merge };
      const judged = await evaluator.test(principal, given, cases);
      if ('problems' in judged) {
        const [first] = judged.problems;
        const where = first === undefined ? '' : `, as ${describeProblem(first)}`;
        throw new ReeveError('policy_invalid', `the cases have errors${where}`, { errors: judged.problems });
      }
      const { report } = judged;
      const passed = report.cases.filter((one) => one.passed).length;
      return {
        passed,
        failed: report.cases.length - passed,
        cases: report.cases.map((one) => ({
          line: one.line,
          about: one.about,
          case: one.case,
          passed: one.passed,
          expected: { ...one.expected },
          actual: { ...one.actual },
          differs: [...one.differs],
          problem: one.problem,
        })),
        coverage: { ...report.coverage, unreached: [...report.coverage.unreached] },
      };
    },
  };
}
