import type { Action, AgentId, Decision, PolicyProblem, PolicySource, User } from '@reeve/core';

export interface CaseRequest {
  readonly agent: AgentId;
  readonly action: Action;
  /** The agent's estimate of the cost. */
  readonly costMicros: number | null;
  readonly runId: string;
  /** For whom the agent acts. */
  readonly user: User | null;
  /** The time of the request; undefined for the time of the one before. */
  readonly at: number | undefined;
  /** What the call brings back, as it is sent to be judged; undefined if nobody asks about that. */
  readonly result: string | undefined;
}

/** A request before a case, and its outcome. */
export interface EarlierRequest extends CaseRequest {
  readonly times: number;
  /** The final cost; undefined if the operation goes on. */
  readonly settledMicros: number | undefined;
  readonly decision: Decision;
}

/** How the agent of a case was registered. */
export interface CaseAgent {
  readonly name: string;
  readonly framework: string;
  readonly depth: number;
  readonly metadata: Readonly<Record<string, string>>;
}

export interface CaseSpend {
  readonly day_usd: number;
  readonly month_usd: number;
}

/** One request, and the expected answer. */
export interface PolicyCase extends CaseRequest {
  readonly name: string;
  readonly line: number;
  readonly registered: CaseAgent;
  readonly before: readonly EarlierRequest[];
  /** What its run has done before, if the case states it instead of listing requests. */
  readonly run: { readonly checks?: number; readonly spent_usd?: number; readonly labels?: readonly string[] };
  /** What was spent before, if the case states it instead of listing requests. */
  readonly spend: Readonly<Partial<Record<'global' | 'org' | 'team' | 'agent', CaseSpend>>>;
  readonly expected: ExpectedAnswer;
}

/** Absent members are not compared. */
export interface ExpectedAnswer {
  readonly decision: Decision;
  readonly rule?: string;
  readonly reason?: string;
  readonly reserved_micros?: number;
  readonly audited?: string;
  readonly limit?: Readonly<Record<string, unknown>>;
  readonly observed?: readonly unknown[];
  /** The terms of the approval: `count`, `ttl_secs`, `grants` and `rules`. Only the named ones are compared. */
  readonly approvals?: Readonly<Record<string, unknown>>;
  /** What rules make of the arguments; null: nothing. */
  readonly rewritten_args?: unknown;
  /** The labels that the call gives: at once, or when it is approved. */
  readonly labels?: readonly string[];
  readonly judge_result?: boolean;
  /** What becomes of the result: `effect`, `rule`, `reason`, `masked`, `labels` and `counts`. Only the named ones are compared. */
  readonly on_result?: Readonly<Record<string, unknown>>;
}

/** A document of a case file: cases for the same policies. */
export interface CaseGroup {
  readonly file: string;
  readonly line: number;
  readonly about: string;
  /** Policies of the group, in place of those under test. */
  readonly policies: readonly PolicySource[] | undefined;
  readonly cases: readonly PolicyCase[];
  /** The problems that its own policies must have. */
  readonly problems: readonly string[] | undefined;
}

export interface ReadCases {
  readonly groups: readonly CaseGroup[];
  readonly problems: readonly PolicyProblem[];
}
