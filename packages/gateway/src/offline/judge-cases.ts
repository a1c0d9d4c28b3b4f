import type { PolicyDocument, PolicyProblem } from '@reeve/core';
import { readCases } from './read-cases.ts';
import type { CaseReport } from './test-policies.ts';
import { testPolicies } from './test-policies.ts';

/** Judges the cases of one text, or reports what is wrong with the text. */
export function judgeCases(
  documents: readonly PolicyDocument[],
  cases: string,
  mostMicros: number,
): { readonly problems: readonly PolicyProblem[] } | { readonly report: CaseReport } {
  const { groups, problems } = readCases({ file: 'cases', text: cases }, mostMicros);
  return problems.length > 0 ? { problems } : { report: testPolicies(documents, groups, mostMicros) };
}
