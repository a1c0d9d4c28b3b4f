import type {
  Candidate,
  ConsiderAgain,
  JudgedAgain,
  PolicyProblem,
  Principal,
  RawCheckRequest,
  Simulation,
  StoredEntry,
  UnboundPrincipal,
} from '@reeve/core';
import type { CaseReport } from '../offline/test-policies.ts';

/** The results of cases, or what is wrong with the cases. */
export type JudgedCases = { readonly problems: readonly PolicyProblem[] } | { readonly report: CaseReport };

/** What a simulation supposes beside the request. */
export interface Supposed {
  /** The labels of the run, if not those that it bears. */
  readonly labels?: readonly string[] | undefined;
  /** What the call brings back, if that is to be judged as well. */
  readonly result?: string | undefined;
}

/**
 * Compiles and evaluates what callers write, for the routes. It runs apart from decisions. Each method rejects with
 * `too_expensive` if it takes too long, and with `too_many_evaluations` while others of the same tenant run.
 */
export interface PolicyEvaluator {
  validate(
    by: Principal,
    asked: { readonly source: string; readonly name: string | undefined },
  ): Promise<readonly PolicyProblem[]>;
  /** Also checks the form of the request, which may be large. */
  simulate(
    by: Principal,
    request: RawCheckRequest,
    candidate: Candidate | undefined,
    supposed: Supposed,
  ): Promise<Simulation>;
  /** Refuses a candidate that could not be in force. */
  requireCandidate(by: Principal, candidate: Candidate): Promise<void>;
  judgeAgain(by: Principal, candidate: Candidate, entries: readonly StoredEntry[]): Promise<readonly JudgedAgain[]>;
  readonly considerAgain: ConsiderAgain;
  test(by: UnboundPrincipal, candidate: Candidate | undefined, cases: string): Promise<JudgedCases>;
}
