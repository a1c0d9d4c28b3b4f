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
import type { Applying, Step, Typed, Undo } from '../journal/index.ts';
import { nothingToApply } from '../journal/index.ts';
import { SteppedRound } from '../kernel/index.ts';

/** After this many entries that changed no balance, the mark moves on anyway. */
const mostEntriesAfter = 10_000;
/** How many balances a step looks at, for each one that it writes. */
const seenForEach = 10;
const dayMs = 86_400_000;

function isSave(step: Step<unknown, Typed>): boolean {
  return 'change' in step && (step.change as BudgetsChange).kind === 'balances_saved';
}

/**
 * Saves what was spent, aside from decisions. It books durable facts. Now and then it writes the balances that have
 * changed, with the entry up to which they are true. A restart adds the later entries.
 */
export class BalanceKeeper {
  readonly #gov: BudgetsState;
  readonly #fold = new BalanceFold();
  readonly #forgetting: SteppedRound;
  /** The store is complete up to this entry. */
  #mark = 0;
  /** The entry that the present save began at. */
  #asOf = 0;
  /** How many steps are written, and not durable yet. */
  #pending = 0;
  #isForgetting = false;

  constructor(gov: BudgetsState) {
    this.#gov = gov;
    this.#forgetting = new SteppedRound(() => gov.ledger.forgettingIdle());
  }

  /** Starts from the rows. They are complete up to this entry, and some know later ones. */
  restore(saved: readonly SavedBalance[], mark: number): void {
    for (const balance of saved) this.#fold.balances.put(balance);
    this.#mark = mark;
  }

  /** After the rows, a start books what the log says: a fact as of this entry. Rows that know it stay as they are. */
  redo(event: BookedEvent, seq: number): void {
    bookFact(this.#fold.balances, event, seq);
  }

  /** The balances that are durable. */
  get saved(): Balances {
    return this.#fold.balances;
  }

  /**
   * A restart needs only the entries after this one. Entries since the last save that changed no balance are not
   * needed.
   */
  get neededFrom(): number {
    return this.#pending > 0 || this.#fold.hasChanged ? this.#mark : this.#gov.journal.head.seq;
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
    if (!this.#fold.isSaving) {
      if (this.#removeEmpty(most)) return true;
      if (!this.#fold.hasChanged && seq < this.#mark + mostEntriesAfter) return this.#forgetIdle(most);
      this.#fold.beginSave();
      this.#asOf = seq;
    }
    const steps = this.#fold.next(most);
    const isAll = steps.length === this.#fold.saving;
    this.#write(this.#changeOf(steps, seq, isAll));
    return !isAll || this.#forgetIdle(most);
  }

  /** Balances are saved, here or elsewhere. */
  apply(change: BudgetsChange, { isHere, onDurable }: Applying): Undo {
    if (!isHere) return this.#followSave(change);
    const undo = this.#fold.write(change);
    this.#pending++;
    onDurable(() => {
      this.#pending--;
      if (change.asOf !== null) this.#mark = change.asOf.seq;
    });
    return () => {
      this.#pending--;
      undo();
    };
  }

  /** Whatever is saved here begins anew, at an entry after that. */
  #followSave({ asOf, closed }: BudgetsChange): Undo {
    if (this.#fold.isSaving) this.#fold.giveUp();
    this.#fold.forgetClosed(closed);
    if (asOf !== null) this.#mark = Math.max(this.#mark, asOf.seq);
    return nothingToApply();
  }

  #changeOf(steps: readonly BalanceStep[], seq: number, isAll: boolean): BudgetsChange {
    const { calendar } = this.#gov.ledger.policy;
    const closed = steps.flatMap((step) => this.#closedOf(step, calendar));
    return {
      kind: 'balances_saved',
      saved: steps.map(({ balance }) => ({ ...balance, seq })),
      over: [],
      closed,
      closedBefore: isAll && closed.length > 0 ? this.#firstKept(calendar) : null,
      asOf: isAll ? { seq: this.#asOf, timeZone: calendar.timeZone } : null,
    };
  }

  /** Removes up to `most` rows that say nothing. Returns false if there are none. */
  #removeEmpty(most: number): boolean {
    const over = this.#fold.nextEmpty(most, this.#mark);
    if (over.length === 0) return false;
    this.#write({ kind: 'balances_saved', saved: [], over, closed: [], closedBefore: null, asOf: null });
    return true;
  }

  #write(change: BudgetsChange): void {
    const { journal } = this.#gov;
    // A gateway that took the lead may have saved first. Its mark would speak for these rows, which are older.
    journal.onlyIf((commit) => !commit.steps.some(isSave));
    journal.apply(change);
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
