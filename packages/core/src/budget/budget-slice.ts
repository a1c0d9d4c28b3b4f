import type { AlertEvent } from '../audit/index.ts';
import type { Typed } from '../journal/index.ts';
import type { AgentId, EpochMs, Micros, Total } from '../kernel/index.ts';
import type { ClosedPeriod, SavedBalance } from './balance.ts';
import type { Period } from './period.ts';
import type { BalancesMark } from './recover-balances.ts';
import type { TierOf } from './tier.ts';

/** The rows that budgets write: what was spent, up to an entry, and the balance of which nothing is left to say. */
export interface BudgetsChange {
  readonly kind: 'balances_saved';
  readonly saved: readonly SavedBalance[];
  readonly over: readonly TierOf[];
  /** What tiers have spent in days and months that are over. */
  readonly closed: readonly ClosedPeriod[];
  /** Such days and months are given up before these; null: all stay. */
  readonly closedBefore: Readonly<Record<Period, string>> | null;
  readonly asOf: BalancesMark;
}

/** An operation has moved, as far as balance follow from it. */
interface OpSettled {
  readonly type: 'ops_change';
  readonly agent: AgentId;
  readonly op: { readonly costMicros: Micros };
  /** The day that its cost was booked to, where the move has settled one. */
  readonly booked?: string;
}

/** The events that balance follow from. */
export type BookedEvent = BudgetEvent | AlertEvent | OpSettled;

const booked: ReadonlySet<string> = new Set<BookedEvent['type']>(['budget', 'audit_alert', 'ops_change']);

export function isBookedEvent(event: Typed): event is BookedEvent {
  return booked.has(event.type);
}

/** What a start brings back of budgets, before it adds what the log says since. */
export interface BudgetsSnapshot {
  readonly balances: readonly SavedBalance[];
  /** Up to which entry the balance are true; null where none were saved yet. */
  readonly balancesMark: BalancesMark | null;
}

/** A cap is nearly used up, or was about to be passed, or what was spent is corrected. */
export interface BudgetEvent {
  readonly type: 'budget';
  readonly at: EpochMs;
  /** Whose balance: everybody's, or those of an org, a team or an agent. */
  readonly of: TierOf;
  readonly change: 'approached' | 'exceeded' | 'corrected';
  readonly period: Period;
  /** The day that it was booked to. */
  readonly day?: string;
  /** By how much it was corrected. */
  readonly amountMicros?: Total;
  /** The share of the cap that is used up; null where it was about to be passed, or is corrected. */
  readonly percent: number | null;
  /** Null where there is no cap. */
  readonly limitMicros: Micros | null;
  readonly totalMicros: Total;
}
