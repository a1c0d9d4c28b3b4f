import type {
  Candidate,
  ConsiderAgain,
  JudgedAgain,
  PolicyProblem,
  Principal,
  RawCheckRequest,
  Simulation,
  StoredEntry,
} from '@reeve/core';
import type { CaseReport } from '../offline/test-policies.ts';

/** What became of cases, or what is wrong with them. */
export type JudgedCases = { readonly problems: readonly PolicyProblem[] } | { readonly report: CaseReport };

/**
 * What routes have done that compile or evaluate what a caller has written. It happens aside from decisions and ends
 * when it takes too long: each rejects with `too_expensive` then, and with `too_many_evaluations` where others of the
 * same tenant are going on.
 */
export interface PolicyEvaluator {
  validate(
    by: Principal,
    asked: { readonly source: string; readonly name: string | undefined },
  ): Promise<readonly PolicyProblem[]>;
  /** The form of the request is checked there, too: it may be large. */
  simulate(by: Principal, request: RawCheckRequest, candidate: Candidate | undefined): Promise<Simulation>;
  /** Refuses a candidate that could not be in force. */
  requireCandidate(by: Principal, candidate: Candidate): Promise<void>;
  judgeAgain(by: Principal, candidate: Candidate, entries: readonly StoredEntry[]): Promise<readonly JudgedAgain[]>;
  readonly considerAgain: ConsiderAgain;
  test(by: Principal, candidate: Candidate | undefined, cases: string): Promise<JudgedCases>;
}
