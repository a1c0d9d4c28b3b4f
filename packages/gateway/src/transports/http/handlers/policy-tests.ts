import type { Governance, PolicyDocument, PolicyProblem } from '@reeve/core';
import { candidateSet, describeProblem, ReeveError, requireUnbound } from '@reeve/core';
import type { CaseReport } from '../../../offline/test-policies.ts';
import type { Handlers } from '../handler.ts';

/** Reads cases and judges them; says what is wrong with them instead. */
export type JudgeCases = (
  documents: readonly PolicyDocument[],
  cases: string,
  mostMicros: number,
) => { readonly problems: readonly PolicyProblem[] } | { readonly report: CaseReport };

export function policyTestHandlers(gov: Governance, judgeCases: JudgeCases): Pick<Handlers, 'testPolicies'> {
  return {
    testPolicies: ({ body: { cases, candidate, merge } }, { principal }) => {
      requireUnbound(principal);
      const { documents } =
        candidate === undefined ? gov.policies : candidateSet(gov, principal, { text: candidate, merge });
      const judged = judgeCases(documents, cases, gov.mostActionMicros);
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
