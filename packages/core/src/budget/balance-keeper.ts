import { canonicalJson, draftOf, system } from '../audit/index.ts';
import type { BalanceFold, BalanceStep } from './balance-fold.ts';
import type { ClosedPeriod } from './balance.ts';
import { closedKept } from './balance.ts';
import type { BudgetsChange } from './budget-slice.ts';
import { isBookedEvent } from './budget-slice.ts';
import type { Budgets } from './budgets.ts';
import type { Calendar } from './period.ts';
import type { Step, Typed } from '../journal/index.ts';
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
 * Saves what was spent, aside from the decision path. It follows durable events. Now and then it writes the changes,
 * with the entry up to which they are true. A restart adds the later entries.
 */
export class BalanceKeeper {
  readonly #gov: Budgets;
  readonly #fold: BalanceFold;
  readonly #forgetting: SteppedRound;
  #mark: number;
  /** The entry that the present save began at. */
  #asOf = 0;
  #isForgetting = false;

  /** The store is complete up to the entry `mark`. */
  constructor(gov: Budgets, fold: BalanceFold, mark: number) {
    this.#gov = gov;
    this.#fold = fold;
    this.#mark = mark;
    this.#forgetting = new SteppedRound(() => gov.ledger.forgettingIdle());
  }

  /**
   * A restart needs only the entries after this one. Entries since the last save that changed no balance are not
   * needed.
   */
  get neededFrom(): number {
    return this.#fold.hasChanged ? this.#mark : this.#gov.journal.head.seq;
  }

  /** Receives events in order, once they are durable. */
  follow(events: readonly Typed[]): void {
    for (const event of events.filter(isBookedEvent)) {
      if (event.type === 'ops_change' && event.booked !== undefined) {
        this.#fold.settle(event.agent, event.op.costMicros, event.booked);
      } else if (event.type === 'budget' && event.day !== undefined) {
        const { of, period, percent, amountMicros, day } = event;
        if (percent !== null) this.#fold.notice(of, period, percent, day);
        if (amountMicros !== undefined) this.#fold.correct(of, period, amountMicros, day);
      } else if (event.type === 'audit_alert' && event.movedBackTo !== undefined) {
        this.#fold.goBack(event.movedBackTo);
      }
    }
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
      if (!this.#fold.hasChanged && seq < this.#mark + mostEntriesAfter) return this.#forgetIdle(most);
      this.#fold.beginSave();
      this.#asOf = seq;
    }
    const steps = this.#fold.take(most);
    const before = this.#mark;
    const isAll = !this.#fold.isSaving;
    if (isAll) this.#mark = this.#asOf;
    const { calendar } = ledger.policy;
    const closed = steps.flatMap((step) => this.#closedOf(step, calendar));
    // A gateway that took the lead may have saved first. Its mark would speak for these rows, which are older.
    journal.onlyIf((commit) => !commit.steps.some(isSave));
    journal.write({
      kind: 'balances_saved',
      saved: steps.flatMap(({ balance }) => (balance === null ? [] : [{ ...balance, seq }])),
      over: steps.flatMap(({ of, balance }) => (balance === null ? [of] : [])),
      closed,
      closedBefore: isAll && closed.length > 0 ? this.#firstKept(calendar) : null,
      asOf: { seq: this.#mark, timeZone: calendar.timeZone },
    });
    journal.onFailure(() => {
      this.#mark = before;
      this.#fold.giveBack(steps);
    });
    return !isAll || this.#forgetIdle(most);
  }

  /** Gives up the present save, because another gateway saves. A later one begins anew, at the entry it finds then. */
  giveUp(): void {
    this.#fold.giveBack([]);
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
  const moved = gov.ledger.goBack();
  if (moved === undefined) return false;
  const { undo, from, to } = moved;
  const at = gov.clock.now();
  gov.journal.onFailure(undo);
  gov.journal.record(
    draftOf({
      at,
      eventType: 'BudgetDayMovedBack',
      actor: system,
      reason: `the clock had shown ${from} and shows ${to}: what was booked later counts for ${to}`,
      payload: canonicalJson({ from, to }),
    }),
  );
  gov.journal.publish({
    type: 'audit_alert',
    at,
    agent: null,
    alert: 'clock_set_back',
    details: { from, to },
    movedBackTo: to,
  });
  return true;
}
