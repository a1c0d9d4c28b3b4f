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

export type DelegationChange =
  /** Delegated, or delegated again: what was used counts on. */
  | { readonly kind: 'delegation_saved'; readonly terms: DelegationTerms }
  | {
      readonly kind: 'delegation_used';
      readonly id: AgentId;
      readonly checks: number;
      readonly settledMicros: Micros;
    }
  | { readonly kind: 'delegation_ended'; readonly id: AgentId; readonly at: EpochMs; readonly reason: string }
  | { readonly kind: 'delegation_removed'; readonly id: AgentId };

/** The delegate whose row a change is about. */
export function delegateOfChange(change: DelegationChange): AgentId {
  return change.kind === 'delegation_saved' ? change.terms.id : change.id;
}

/** The stored delegation after a change; undefined if none. The rule for memory and for all stores. */
export function delegationAfter(stored: Delegation | undefined, change: DelegationChange): Delegation | undefined {
  switch (change.kind) {
    case 'delegation_saved': {
      const counts = stored !== undefined && stored.endedAt === null && stored.by === change.terms.by;
      const { checks, settledMicros } = counts ? stored : unused;
      return { ...change.terms, checks, settledMicros, endedAt: null };
    }
    case 'delegation_used': {
      if (stored === undefined) return undefined;
      const settled = Math.min(stored.settledMicros + change.settledMicros, Number.MAX_SAFE_INTEGER);
      return { ...stored, checks: stored.checks + change.checks, settledMicros: settled };
    }
    case 'delegation_ended':
      return stored === undefined ? undefined : { ...stored, endedAt: change.at };
    case 'delegation_removed':
      return undefined;
  }
}

const unused: DelegationUsage = { checks: 0, settledMicros: 0 };
