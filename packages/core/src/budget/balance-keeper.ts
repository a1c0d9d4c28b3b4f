import { canonicalJson, draftOf, system } from '../audit/index.ts';
import type { BalanceFold, BalanceStep } from './balance-fold.ts';
import type { ClosedPeriod } from './balance.ts';
import { closedKept } from './balance.ts';
import { isBookedEvent } from './budget-slice.ts';
import type { Budgets } from './budgets.ts';
import type { Calendar } from './period.ts';
import type { Typed } from '../journal/index.ts';

/** So many entries that changed no balance may pass before it is noted that they did not. */
const mostEntriesAfter = 10_000;
const dayMs = 86_400_000;

/**
 * Keeps what was spent in the store, aside from the decision path: it follows what is durable, and now and then writes
 * what has changed, with the entry up to which that is true. A restart adds the entries that came after.
 */
export class BalanceKeeper {
  readonly #gov: Budgets;
  readonly #fold: BalanceFold;
  #mark: number;

  /** `mark` is the entry up to which the store has all of it. */
  constructor(gov: Budgets, fold: BalanceFold, mark: number) {
    this.#gov = gov;
    this.#fold = fold;
    this.#mark = mark;
  }

  /** A restart needs the entries after this one. What changed no balance since they were saved, it does not need. */
  get neededFrom(): number {
    return this.#fold.hasChanged ? this.#mark : this.#gov.journal.head.seq;
  }

  /** Told of events once they are durable, in order. */
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

  /** Writes the balance of up to `most` tiers that have changed into this turn's batch; false where that was all. */
  save(most = Number.POSITIVE_INFINITY): boolean {
    const { journal, ledger } = this.#gov;
    this.#fold.closeBefore(ledger.bookedTo);
    ledger.forgetIdle();
    const steps = this.#fold.take(most);
    const { seq } = journal.head;
    if (steps.length === 0 && seq < this.#mark + mostEntriesAfter) return false;
    const before = this.#mark;
    const isAll = !this.#fold.hasChanged;
    if (isAll) this.#mark = seq;
    const { calendar } = ledger.policy;
    const closed = steps.flatMap((step) => this.#closedOf(step, calendar));
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
    return !isAll;
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
 * Where the clock was ahead and has been right for a while, budgets go back to its day. That is on record, so that the log
 * adds up to the same, and told to whoever operates the gateway.
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
