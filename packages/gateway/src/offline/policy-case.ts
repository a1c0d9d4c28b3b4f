import type { Action, AgentId, Decision, PolicyProblem, PolicySource } from '@reeve/core';

/** Somebody asks for something. */
export interface CaseRequest {
  readonly agent: AgentId;
  readonly action: Action;
  /** What the agent estimates it to cost. */
  readonly costMicros: number | null;
  readonly runId: string;
  /** When; undefined: at the time of what came before. */
  readonly at: number | undefined;
}

/** What was asked before a case, and how it went on. */
export interface EarlierRequest extends CaseRequest {
  readonly times: number;
  /** What it did cost in the end; undefined: it goes on. */
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

/** One request, and what must be answered. */
export interface PolicyCase extends CaseRequest {
  readonly name: string;
  readonly line: number;
  readonly registered: CaseAgent;
  readonly before: readonly EarlierRequest[];
  /** What its run has done before, where the case says so instead of going through it. */
  readonly run: { readonly checks: number; readonly spent_usd: number } | undefined;
  /** What was spent before, where the case says so instead of going through it. */
  readonly spend: Readonly<Partial<Record<'global' | 'org' | 'team' | 'agent', CaseSpend>>>;
  readonly expected: ExpectedAnswer;
}

/** What is left out is not looked at. */
export interface ExpectedAnswer {
  readonly decision: Decision;
  readonly rule?: string;
  readonly reason?: string;
  readonly reserved_micros?: number;
  readonly audited?: string;
  readonly limit?: Readonly<Record<string, unknown>>;
  readonly observed?: readonly unknown[];
  /** On which terms people are asked: `count`, `ttl_secs`, `grants` and `rules`, of which only what is named is compared. */
  readonly approvals?: Readonly<Record<string, unknown>>;
}

/** A document of a case file: cases that are judged by the same policies. */
export interface CaseGroup {
  readonly file: string;
  readonly line: number;
  readonly about: string;
  /** Policies of its own, in place of those under test. */
  readonly policies: readonly PolicySource[] | undefined;
  readonly cases: readonly PolicyCase[];
  /** What must be said to be wrong with its own policies. */
  readonly problems: readonly string[] | undefined;
}

export interface ReadCases {
  readonly groups: readonly CaseGroup[];
  readonly problems: readonly PolicyProblem[];
}
