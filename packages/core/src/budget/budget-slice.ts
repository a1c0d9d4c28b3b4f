import type { AlertEvent } from '../audit/index.ts';
import type { Typed } from '../journal/index.ts';
import type { AgentId, EpochMs, Micros, Total } from '../kernel/index.ts';
import type { BalancesMark, ClosedPeriod, SavedBalance } from './balance.ts';
import type { Period } from './period.ts';
import type { ChargedTo, TierOf } from './tier.ts';

/** Balances were saved: as they are up to an entry, with the empty ones to remove. */
export interface BudgetsChange {
  readonly kind: 'balances_saved';
  readonly saved: readonly SavedBalance[];
  readonly over: readonly TierOf[];
  /** What tiers have spent in days and months that are over. */
  readonly closed: readonly ClosedPeriod[];
  /** Retention removes closed days and months before these. Null keeps all. */
  readonly closedBefore: Readonly<Record<Period, string>> | null;
  /** All balances are true up to this entry from now on. Null before the last step of a save. */
  readonly asOf: BalancesMark | null;
}

/** A move of an operation, as far as it affects balances. */
interface OpSettled {
  readonly type: 'ops_change';
  readonly agent: AgentId;
  readonly op: ChargedTo & { readonly costMicros: Micros };
  /** The day that its cost was booked to, if the move settled a cost. */
  readonly booked?: string;
}

/** The events that change balances. */
export type BookedEvent = BudgetEvent | AlertEvent | OpSettled;

const booked: ReadonlySet<string> = new Set<BookedEvent['type']>(['budget', 'audit_alert', 'ops_change']);

export function isBookedEvent(event: Typed): event is BookedEvent {
  return booked.has(event.type);
}

/** The budgets that a start loads, before it adds the later log entries. */
export interface BudgetsSnapshot {
  readonly balances: readonly SavedBalance[];
  /** The entry up to which the balances are true. Null if none were saved yet. */
  readonly balancesMark: BalancesMark | null;
}

/** A cap is nearly used up, a charge would pass it, or somebody corrected what was spent. */
export interface BudgetEvent {
  readonly type: 'budget';
  readonly at: EpochMs;
  /** Whose balance it is: everybody's, or that of an org, a team or an agent. */
  readonly of: TierOf;
  readonly change: 'approached' | 'exceeded' | 'corrected';
  readonly period: Period;
  /** The day that it was booked to. */
  readonly day?: string;
  /** By how much it was corrected. */
  readonly amountMicros?: Total;
  /** The used share of the cap. Null if a charge would pass the cap, and for a correction. */
  readonly percent: number | null;
  /** Null if there is no cap. */
  readonly limitMicros: Micros | null;
  readonly totalMicros: Total;
}
