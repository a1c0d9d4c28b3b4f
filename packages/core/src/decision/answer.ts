import type { Decision } from '../audit/entry.ts';
import type { Period } from '../budget/period.ts';
import type { BudgetTier } from '../budget/tier.ts';
import type { Typed } from '../journal/journal.ts';
import type { AgentId } from '../kernel/agent-id.ts';
import type { EpochMs } from '../kernel/clock.ts';
import type { Micros, Total } from '../kernel/money.ts';
import type { Op } from '../ops/op.ts';
import type { RunFacts, SpendFacts } from '../policy/condition.ts';
import type { Observed } from '../policy/observed-documents.ts';
import type { Tier } from '../policy/policy-set.ts';

/** The cap that a refused charge would have passed. */
export interface Limit {
  readonly tier: BudgetTier;
  readonly period: Period;
  readonly limitMicros: Micros;
  /** Settled and reserved, without the refused charge. */
  readonly totalMicros: Total;
}

/** What an agent is told. */
export interface Answer {
  readonly decision: Decision;
  readonly reason: string;
  readonly policyRule: string;
  readonly tier: Tier;
  readonly approvalId: string;
  readonly latencyUs: number;
  /** Empty where the refusal left no operation. */
  readonly opId: string;
  readonly opState: string;
  /** Set where a budget has refused it. */
  readonly limit: Limit | undefined;
  /** What documents that are only observed would have done otherwise. */
  readonly observed: readonly Observed[];
}

/** What conditions asked of the run and of spend. It is recorded, so that the decision can be judged again. */
export interface AskedFacts {
  run?: RunFacts;
  spend?: SpendFacts;
}

/** A judgement that is not durable yet: it becomes an answer once its turn is committed. */
export interface Judgement {
  readonly decision: Decision;
  readonly reason: string;
  readonly policyRule: string;
  readonly tier: Tier;
  readonly op: Op | undefined;
  readonly limit?: Limit;
  /** The approval that the operation waits for. */
  readonly approvalId?: string | undefined;
  /** The grant by which it was allowed. */
  readonly grantId?: string;
  /** What conditions were told that only the moment knew. */
  readonly asked?: AskedFacts;
  /** What documents that are only observed would have done otherwise. */
  readonly observed?: readonly Observed[];
  /** On the clock that never jumps. */
  readonly startedAt: number;
}

const nothing: readonly Observed[] = [];

/** The answer, as true at the moment it leaves: a termination that came meanwhile wins. */
export function answerOf(judgement: Judgement, elapsed: number): Answer {
  const { op } = judgement;
  const overtaken = judgement.decision !== 'deny' && op?.state === 'terminated';
  return {
    decision: overtaken ? 'deny' : judgement.decision,
    reason: overtaken ? 'operation is terminated' : judgement.reason,
    policyRule: judgement.policyRule,
    tier: judgement.tier,
    approvalId: overtaken ? '' : (judgement.approvalId ?? ''),
    latencyUs: Math.max(0, Math.round((elapsed - judgement.startedAt) * 1000)),
    opId: op?.opId ?? '',
    opState: op?.state ?? '',
    limit: judgement.limit,
    observed: judgement.observed ?? nothing,
  };
}

/** A check was answered. */
export interface DecisionEvent {
  readonly type: 'decision';
  readonly at: EpochMs;
  readonly agent: AgentId;
  readonly decision: Decision;
  readonly reason: string;
  readonly policyRule: string;
  /** Empty where the refusal left no operation. */
  readonly opId: string;
}

export function isDecisionEvent(event: Typed): event is DecisionEvent {
  return event.type === 'decision';
}
