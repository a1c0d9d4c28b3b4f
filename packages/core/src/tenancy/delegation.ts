import type { AgentId, EpochMs, Micros } from '../kernel/index.ts';

/** What a delegate may do at most, and until when. */
export interface DelegationTerms {
  /** The delegate. */
  readonly id: AgentId;
  /** The id of the agent that delegates. It is of the same org and team. */
  readonly by: string;
  readonly grantedAt: EpochMs;
  readonly expiresAt: EpochMs;
  /** Types of actions. Empty: any. */
  readonly actions: readonly string[];
  /** Globs of tool names, for calls of tools. Empty: any. */
  readonly tools: readonly string[];
  readonly maxCostMicros: Micros | null;
  readonly maxChecks: number | null;
  /** How many agents may act for the delegate in turn, at all depths. Absent: as many as for whoever stands above all. */
  readonly maxDelegates?: number;
}

/** What was used of a delegation, by the delegate and by those below it. What is reserved stands in the balances. */
export interface DelegationUsage {
  readonly checks: number;
  readonly settledMicros: Micros;
}

export interface Delegation extends DelegationTerms, DelegationUsage {
  /** Null while it lasts. An ended one is remembered as long as operations of the delegate are. */
  readonly endedAt: EpochMs | null;
}

/** Memory knows all that was written before, so each change has the delegation as it is afterwards. */
export type DelegationChange =
  /** Delegated, or delegated again. */
  | { readonly kind: 'delegation_saved'; readonly delegation: Delegation }
  /** A check was made by it, or a cost was settled. */
  | { readonly kind: 'delegation_used'; readonly delegation: Delegation }
  | { readonly kind: 'delegation_ended'; readonly delegation: Delegation; readonly reason: string }
  | { readonly kind: 'delegation_removed'; readonly id: AgentId };

/** The delegate that a change is about. */
export function delegateOfChange(change: DelegationChange): AgentId {
  return change.kind === 'delegation_removed' ? change.id : change.delegation.id;
}

/** How long a delegation counts as a new one. It is remembered as long, even if it has ended. */
export const newForMs = 60_000;

/** What is new. What was used of the one before counts on, if that lasts and is by the same agent. */
export function delegated(terms: DelegationTerms, before: Delegation | undefined): Delegation {
  const counts = before !== undefined && before.endedAt === null && before.by === terms.by;
  const { checks, settledMicros } = counts ? before : unused;
  return { ...terms, checks, settledMicros, endedAt: null };
}

const unused: DelegationUsage = { checks: 0, settledMicros: 0 };

/** One check more, or a cost that was settled. */
export function usedBy(delegation: Delegation, { checks, settledMicros }: DelegationUsage): Delegation {
  const settled = Math.min(delegation.settledMicros + settledMicros, Number.MAX_SAFE_INTEGER);
  return { ...delegation, checks: delegation.checks + checks, settledMicros: settled };
}
