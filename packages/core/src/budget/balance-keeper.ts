import { canonicalJson, draftOf, system } from '../audit/index.ts';
import type { BalanceStep } from './balance-fold.ts';
import { BalanceFold } from './balance-fold.ts';
import type { ClosedPeriod, SavedBalance } from './balance.ts';
import { closedKept } from './balance.ts';
import type { Balances } from './balances.ts';
import { bookFact } from './balances.ts';
import type { BookedEvent, BudgetsChange } from './budget-slice.ts';
import { isBookedEvent } from './budget-slice.ts';
import type { Budgets, BudgetsState } from './budgets.ts';
import type { Calendar } from './period.ts';
import type { Applying, SaveStep, Typed, Undo } from '../journal/index.ts';
import { SteppedRound } from '../kernel/index.ts';

/** How many balances a step looks at, for each one that it writes. */
const seenForEach = 10;
const dayMs = 86_400_000;

/**
 * Saves what was spent, aside from decisions. It books durable facts. Now and then it writes the balances that have
 * changed, with the entry up to which they are true. A restart adds the later entries.
 */
export class BalanceKeeper {
  readonly #gov: BudgetsState;
  readonly #fold = new BalanceFold();
  readonly #forgetting: SteppedRound;
  #isForgetting = false;

  constructor(gov: BudgetsState) {
    this.#gov = gov;
    this.#forgetting = new SteppedRound(() => gov.ledger.forgettingIdle());
  }

  /** Starts from the rows. They are complete up to this entry, and some know later ones. */
  restore(saved: readonly SavedBalance[], mark: number): void {
    for (const balance of saved) this.#fold.balances.put(balance);
    this.#fold.rows.restore(mark);
  }

  /** After the rows, a start books what the log says: a fact as of this entry. Rows that know it stay as they are. */
  redo(event: BookedEvent, seq: number): void {
    bookFact(this.#fold.balances, event, seq);
  }

  /** The balances that are durable. */
  get saved(): Balances {
    return this.#fold.balances;
  }

  /** A restart needs only the facts after this entry. */
  get neededFrom(): number {
    const { rows, hasChanged } = this.#fold;
    return hasChanged ? rows.mark : rows.neededFrom(this.#gov.journal.head.seq);
  }

  /** Books facts in order, once they are durable. */
  follow(events: readonly Typed[]): void {
    for (const event of events) if (isBookedEvent(event)) bookFact(this.#fold.balances, event);
  }

  /**
   * Writes the balances of up to `most` changed tiers, within a turn of the journal. Returns false at the end of a save.
   * All changes from before the save are written then, however many there were since.
   */
  save(most = Number.POSITIVE_INFINITY): boolean {
    const { journal, ledger } = this.#gov;
    if (this.#isForgetting) return this.#forgetIdle(most);
    if (this.#fold.closeBefore(ledger.bookedTo, most * seenForEach)) return true;
    const { seq } = journal.head;
    const { rows } = this.#fold;
    if (!rows.isSaving) {
      if (this.#removeEmpty(most)) return true;
      if (!rows.hasChanged && !rows.isOverdue(seq)) return this.#forgetIdle(most);
      rows.begin(seq);
    }
    const step = rows.next(most, (of) => this.#fold.stepOf(of));
    journal.apply(this.#changeOf(step, seq));
    return step.asOf === null || this.#forgetIdle(most);
  }

  /** Balances are saved, here or elsewhere. */
  apply(change: BudgetsChange, how: Applying): Undo {
    return this.#fold.apply(change, how);
  }

  #changeOf({ rows, asOf }: SaveStep<BalanceStep>, seq: number): BudgetsChange {
    const { calendar } = this.#gov.ledger.policy;
    const closed = rows.flatMap((step) => this.#closedOf(step, calendar));
    return {
      kind: 'balances_saved',
      saved: rows.map(({ balance }) => ({ ...balance, seq })),
      over: [],
      closed,
      closedBefore: asOf !== null && closed.length > 0 ? this.#firstKept(calendar) : null,
      asOf: asOf === null ? null : { seq: asOf, timeZone: calendar.timeZone },
    };
  }

  /** Removes up to `most` rows that say nothing. Returns false if there are none. */
  #removeEmpty(most: number): boolean {
    const { rows } = this.#fold;
    const over = this.#fold.nextEmpty(most, rows.mark);
    if (over.length === 0) return false;
    const change = { kind: 'balances_saved', saved: [], over, closed: [], closedBefore: null, asOf: null } as const;
    this.#gov.journal.apply(change);
    return true;
  }

  #forgetIdle(most: number): boolean {
    this.#isForgetting = this.#forgetting.step(most * seenForEach);
    return this.#isForgetting;
  }

  #closedOf({ of, closed }: BalanceStep, calendar: Calendar): ClosedPeriod[] {
    const caps = this.#gov.ledger.policy.capsOf(of);
    return closed.map(({ period, id, spentMicros }) => {
      const window = calendar.named(period, id) ?? calendar.window(period, Date.parse(id));
      const { start: startsAt, end: endsAt } = window;
      return { of, period, id, startsAt, endsAt, spentMicros, limitMicros: caps[period] };
    });
  }

  /** The first day and month that are still kept. */
  #firstKept(calendar: Calendar): { readonly day: string; readonly month: string } {
    const { day, month } = this.#gov.ledger.windows;
    return {
      day: calendar.window('day', day.start - closedKept.day * dayMs).id,
      month: calendar.window('month', month.start - closedKept.month * 30.4 * dayMs).id,
    };
  }
}

/**
 * Moves budgets back to the day of the clock, if the clock was ahead and has been right for a while. The log records
 * this, so that it adds up to the same. An alert tells the operators.
 */
export function followClock(gov: Budgets): boolean {
  const moved = gov.ledger.mustGoBack;
  if (moved === undefined) return false;
  const { from, to } = moved;
  const at = gov.clock.now();
  gov.journal.record(
    draftOf({
      at,
      eventType: 'BudgetDayMovedBack',
      actor: system,
      reason: `the clock had shown ${from} and shows ${to}: what was booked later counts for ${to}`,
      payload: canonicalJson({ from, to }),
    }),
  );
  gov.journal.apply({
    type: 'audit_alert',
    at,
    agent: null,
    alert: 'clock_set_back',
    details: { from, to },
    movedBackTo: to,
  });
  return true;
}
