import type {
  AgentRecord,
  BroughtMoment,
  CountedBalance,
  Candidate,
  ConsideredRule,
  JudgedAgain,
  JudgedResult,
  Label,
  Lineage,
  PlainSource,
  PolicyProblem,
  PolicySource,
  Principal,
  RawCheckRequest,
  RecordedDecision,
  ResultToJudge,
  RunCount,
  SavedRate,
  Simulation,
  StoredEntry,
  UnboundPrincipal,
} from '@reeve/core';
import type { JudgedCases } from '../../evaluation/policy-evaluator.ts';

/** The facts of a simulation beside policies, as they were when it was requested. */
export interface BroughtFacts {
  readonly now: number;
  readonly agent: { readonly record: AgentRecord; readonly lineage: Lineage } | undefined;
  readonly run: RunCount;
  readonly labels: readonly Label[];
  /** The balances of the agent and of all tiers above it. */
  readonly balances: readonly CountedBalance[];
  /** What counts for the rates in force, of the same. */
  readonly rates: readonly SavedRate[];
  readonly resetsAt: { readonly day: number; readonly month: number };
}

/** Policies of another time, if the thread does not have them yet. */
export type PastSources = readonly PolicySource[] | undefined;

/** All jobs of the threads, with their input and output. Both are plain data that can be sent to a thread. */
export interface EvaluationJobs {
  /** A source that was accepted before is read whatever its size. */
  read: { in: { readonly source: PolicySource; readonly accepted: boolean }; out: PlainSource };
  validate: {
    in: { readonly by: Principal; readonly source: string; readonly name: string | undefined };
    out: readonly PolicyProblem[];
  };
  simulate: {
    in: {
      readonly by: Principal;
      readonly request: RawCheckRequest;
      readonly candidate: Candidate | undefined;
      /** What the call is supposed to bring back. */
      readonly brought: string | undefined;
      readonly facts: BroughtFacts;
    };
    out: Simulation;
  };
  requireCandidate: { in: { readonly by: Principal; readonly candidate: Candidate }; out: null };
  judgeAgain: {
    in: {
      readonly by: Principal;
      readonly candidate: Candidate;
      readonly entries: readonly StoredEntry[];
      readonly agents: readonly AgentRecord[];
    };
    out: readonly JudgedAgain[];
  };
  consider: {
    in: {
      readonly by: Principal;
      readonly recorded: RecordedDecision;
      readonly agent: AgentRecord | undefined;
      readonly past: PastSources;
    };
    /** Undefined if the thread does not have the policies of that time. */
    out: readonly ConsideredRule[] | undefined;
  };
  /** Judges a large result by the policies in force. */
  judgeResult: {
    in: { readonly result: ResultToJudge; readonly moment: BroughtMoment };
    out: JudgedResult;
  };
  /** The orgs of the agents in the cases. */
  orgsOfCases: { in: { readonly cases: string }; out: readonly string[] };
  test: {
    in: { readonly by: UnboundPrincipal; readonly candidate: Candidate | undefined; readonly cases: string };
    out: JudgedCases;
  };
}

export type JobKind = keyof EvaluationJobs;
