import type { KnownCallers } from '../access/index.ts';
import type { AlertEvent } from '../audit/index.ts';
import type { JournalOf } from '../journal/index.ts';
import type { Micros, Ports } from '../kernel/index.ts';
import type { KnownAgents } from '../tenancy/index.ts';
import type { BudgetEvent, BudgetsChange } from './budget-slice.ts';
import type { KnownBalances, Ledger } from './ledger.ts';
import type { Reservation } from './reservations.ts';

/** The dependencies of the budget use cases. */
export interface Budgets extends Ports {
  readonly callers: KnownCallers;
  readonly directory: KnownAgents;
  /** What was spent and what is reserved. */
  readonly ledger: KnownBalances;
  /** The most that one action may cost. */
  readonly mostActionMicros: Micros;
  /** The reservations of the operations in flight. */
  readonly ops: { reservations(): Iterable<Reservation> };
  readonly journal: JournalOf<BudgetsChange, BudgetEvent | AlertEvent>;
}

/** What facts change. */
export interface BudgetsState extends Budgets {
  readonly ledger: Ledger;
}
