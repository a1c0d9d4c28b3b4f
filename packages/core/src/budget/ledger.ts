import type { Sums, Windows } from './balance.ts';
import { Balance, countedIn, idsOfDay, isEmpty, lastBooked, movedOn, nothingBooked } from './balance.ts';
import { Balances } from './balances.ts';
import type { BudgetPolicy } from './budget-policy.ts';
import { LedgerDays } from './ledger-days.ts';
import type { Period, Window } from './period.ts';
import { periods } from './period.ts';
import type { TierOf } from './tier.ts';
import { tierKey } from './tier.ts';
import type { Undo } from '../journal/index.ts';
import type { Clock, EpochMs, Micros, Total } from '../kernel/index.ts';
import { isShareOf, minus, plus } from '../kernel/index.ts';
import type { Approached, Exceeded } from './cap-rule.ts';
import { everyCap, exceededUnder, thresholds } from './cap-rule.ts';

/** A balance as it counts now. */
export interface CountedBalance extends Pick<Sums, 'spent' | 'noticed'> {
  readonly of: TierOf;
  readonly reserved: Total;
}

/** What a change adds to each of its balances. */
export interface Delta {
  readonly reserved: Total;
  readonly settled: Readonly<Record<Period, Total>>;
}

/** What rules see of the ledger. Only facts change it, and putting policies in force. */
export type KnownBalances = Readonly<
  Pick<
    Ledger,
    | 'all'
    | 'approachedBy'
    | 'bookedTo'
    | 'exceededBy'
    | 'mustGoBack'
    | 'policy'
    | 'read'
    | 'resetsAt'
    | 'window'
    | 'windows'
  >
>;

/**
 * What was spent and what is reserved, for everybody, each org, each team and each agent, as it counts by the clock and
 * the caps in force. A charge is reserved in all tiers or in none. It is settled when the action is over, and released
 * if the action never happened. Reservations last over midnight. Settled amounts belong to the day and month they were
 * booked to.
 */
export class Ledger {
  readonly balances = new Balances();
  readonly #days: LedgerDays;
  /** What was released in each tier and is not durable yet. */
  readonly #released = new Map<string, Total>();
  #policy: BudgetPolicy;

  constructor(clock: Clock, policy: BudgetPolicy) {
    this.#policy = policy;
    this.#days = new LedgerDays(clock, policy.calendar, () => this.#lastBooked());
  }

  get policy(): BudgetPolicy {
    return this.#policy;
  }

  /** Puts other caps in force, from the next charge on. */
  set policy(policy: BudgetPolicy) {
    if (policy.calendar.timeZone !== this.#policy.calendar.timeZone) {
      this.#days.follow(policy.calendar, this.balances.size > 0);
    }
    this.#policy = policy;
  }

  /** The present day or month. */
  window(period: Period): Window {
    return this.windows[period];
  }

  /** The present day and month. */
  get windows(): Windows {
    return this.#days.present;
  }

  /** The day that costs are booked to: the present one, or the one that the clock showed before it was set back. */
  get bookedTo(): string {
    return this.#days.booking.day.id;
  }

  /** When the balances of a period start anew. */
  resetsAt(period: Period): EpochMs {
    return this.window(period).end;
  }

  /** The first cap that a charge would pass, in the order of enforcement. A charge of zero passes none. */
  exceededBy(tiers: readonly TierOf[], cost: Micros): Exceeded | undefined {
    return exceededUnder(this.#policy, this, tiers, cost);
  }

  /**
   * Whether the totals of these tiers are within their caps, even without the releases that are not durable yet:
   * the log may have those after the charge in question.
   */
  isSurelyWithinCaps(tiers: readonly TierOf[]): boolean {
    return everyCap(this, tiers, ({ total, limit, of }) => plus(total, this.#releasedOf(of)) <= limit);
  }

  /** Whether a charge would leave them so. */
  wouldSurelyFit(tiers: readonly TierOf[], cost: Micros): boolean {
    return everyCap(this, tiers, ({ total, limit, of }) => plus(plus(total, cost), this.#releasedOf(of)) <= limit);
  }

  /** Those among these tiers that have a cap. */
  capped(tiers: readonly TierOf[]): readonly TierOf[] {
    return tiers.filter((of) => {
      const { day, month } = this.#policy.capsOf(of);
      return day !== null || month !== null;
    });
  }

  /** Notes a release. Call the result when it is durable, or when it was taken back. */
  noteReleased(tiers: readonly TierOf[], amount: Micros): Undo {
    this.#addReleased(tiers, amount);
    return () => this.#addReleased(tiers, minus(0, amount));
  }

  /**
   * Whether somebody was told about each share of a cap that is used up, or would be without the releases that are not
   * durable yet: the log may have those after the charge in question. `ahead`: a change that is still to come.
   */
  hasSurelyToldShares(tiers: readonly TierOf[], ahead: Delta = nothingAhead): boolean {
    return everyCap(this, tiers, ({ of, period, total, limit, noticed }) => {
      const used = plus(plus(total, this.#releasedOf(of)), plus(ahead.reserved, ahead.settled[period]));
      return thresholds.every((percent) => noticed >= percent || !isShareOf(used, percent, limit));
    });
  }

  /** The shares of caps that a change would use up, and that nobody was told about. */
  approachedBy(tiers: readonly TierOf[], { reserved, settled }: Delta): readonly Approached[] {
    if (reserved <= 0 && settled.month <= 0) return nobodyToTell;
    const found: Approached[] = [];
    for (const of of tiers) {
      const caps = this.#policy.capsOf(of);
      if (caps.day === null && caps.month === null) continue;
      const balance = this.read(of);
      for (const period of periods) {
        const limitMicros = caps[period];
        if (limitMicros === null) continue;
        const totalMicros = plus(plus(balance.spent[period], balance.reserved), plus(reserved, settled[period]));
        for (const percent of thresholds) {
          if (balance.noticed[period] >= percent || !isShareOf(totalMicros, percent, limitMicros)) continue;
          found.push({ of, period, percent, limitMicros, totalMicros });
        }
      }
    }
    return found;
  }

  /** The balance of a tier as it counts now. A tier that never spent anything has no balance on record. */
  read(of: TierOf): CountedBalance {
    const balance = this.balances.find(of);
    const present = this.#days.presentIds;
    if (balance === undefined) return new Balance(of, nothingBooked);
    const { window } = balance.sums;
    if (window.day === present.day && window.month === present.month) return balance;
    return { of, reserved: balance.reserved, ...countedIn(balance.sums, present, this.balances.oldest) };
  }

  all(): CountedBalance[] {
    return [...this.balances.all()].map(({ of }) => this.read(of));
  }

  /** Removes empty balances without reservations. Each balance is a step. */
  *forgettingIdle(): Generator<void> {
    for (const { of, reserved, sums } of this.balances.all()) {
      if (reserved === 0 && isEmpty(movedOn(sums, this.#days.bookingIds), this.balances.oldest)) {
        this.balances.delete(of);
      }
      yield;
    }
  }

  /**
   * The day to go back to, once the clock has stayed behind for so long that it was wrong before. Undefined if there is
   * nothing to go back from.
   */
  get mustGoBack(): { readonly from: string; readonly to: string } | undefined {
    const to = this.#days.steadilyBehind?.day.id;
    return to === undefined ? undefined : { from: this.bookedTo, to };
  }

  /** Books to this day from now on. */
  goBack(day: string): Undo {
    return this.#days.goBack(idsOfDay(day));
  }

  #releasedOf(of: TierOf): Total {
    return this.#released.get(tierKey(of)) ?? 0;
  }

  #addReleased(tiers: readonly TierOf[], amount: Total): void {
    for (const of of tiers) {
      const released = plus(this.#releasedOf(of), amount);
      if (released === 0) this.#released.delete(tierKey(of));
      else this.#released.set(tierKey(of), released);
    }
  }

  #lastBooked(): string | undefined {
    const { total } = this.balances;
    return total === undefined ? undefined : lastBooked(total);
  }
}

const nobodyToTell: readonly Approached[] = [];
const nothingAhead: Delta = { reserved: 0, settled: { day: 0, month: 0 } };
