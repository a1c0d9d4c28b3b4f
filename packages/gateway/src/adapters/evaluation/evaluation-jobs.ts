import type {
  AgentRecord,
  Balance,
  Candidate,
  ConsideredRule,
  JudgedAgain,
  Lineage,
  PlainSource,
  PolicyProblem,
  PolicySource,
  Principal,
  RawCheckRequest,
  RecordedDecision,
  RunCount,
  Simulation,
  StoredEntry,
} from '@reeve/core';
import type { JudgedCases } from '../../evaluation/policy-evaluator.ts';

/** What a simulation looks at beside policies, as it was when it was asked for. */
export interface BroughtFacts {
  readonly now: number;
  readonly agent: { readonly record: AgentRecord; readonly lineage: Lineage } | undefined;
  readonly run: RunCount;
  /** Of the agent and all above it. */
  readonly balances: readonly Readonly<Balance>[];
  readonly resetsAt: { readonly day: number; readonly month: number };
}

/** Policies of another time, where they are not known in the thread yet. */
export type PastSources = readonly PolicySource[] | undefined;

/** Everything that is done aside: what it is given and what it gives. All of it is data that can be sent to a thread. */
export interface EvaluationJobs {
  /** What was accepted before is read whatever its size. */
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
    /** Undefined where the policies of the time are not known. */
    out: readonly ConsideredRule[] | undefined;
  };
  /** The orgs that the agents of cases belong to. */
  orgsOfCases: { in: { readonly cases: string }; out: readonly string[] };
  test: {
    in: { readonly by: Principal; readonly candidate: Candidate | undefined; readonly cases: string };
    out: JudgedCases;
  };
}

export type JobKind = keyof EvaluationJobs;
