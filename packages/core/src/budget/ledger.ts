import type { Balance, SavedBalance, WindowIds, Windows } from './balance.ts';
import {
  book,
  copyOf,
  countedFrom,
  freshSums,
  idsOf,
  isEmpty,
  later,
  moveBack,
  moveOn,
  oldestOf,
  sumsOf,
} from './balance.ts';
import type { BudgetPolicy } from './budget-policy.ts';
import { LedgerDays } from './ledger-days.ts';
import type { Period, Window } from './period.ts';
import { monthOf, periods } from './period.ts';
import type { TierOf } from './tier.ts';
import { everybody, tierKey, tiersOf } from './tier.ts';
import type { Undo } from '../journal/index.ts';
import type { AgentId, Clock, EpochMs, Micros, Total } from '../kernel/index.ts';
import { isShareOf, minus, plus } from '../kernel/index.ts';
import { exceededUnder } from './cap-rule.ts';
import type { Exceeded } from './cap-rule.ts';

/** A share of a cap that is used up for the first time in its period. */
export interface Approached {
  readonly of: TierOf;
  readonly period: Period;
  readonly percent: number;
  readonly limitMicros: Micros;
  readonly totalMicros: Total;
}

/** What a change of the balance means: how to take it back, who is to be told, and the day that it was booked to. */
export interface Booked {
  readonly undo: Undo;
  readonly approached: readonly Approached[];
  readonly day: string;
}

/** At which shares of a cap somebody is told, once a period. */
export const thresholds = [80, 95] as const;

/**
 * What was spent and what is held back, for everybody, each org, each team and each agent. A charge is reserved in all
 * tiers or in none, settled when the action is over and released when it never was. What is reserved stays so over
 * midnight; what is settled belongs to the day and month that it was booked to.
 */
export class Ledger {
  readonly #balance = new Map<string, Balance>();
  readonly #days: LedgerDays;
  #policy: BudgetPolicy;

  constructor(clock: Clock, policy: BudgetPolicy) {
    this.#policy = policy;
    this.#days = new LedgerDays(clock, policy.calendar);
  }

  get policy(): BudgetPolicy {
    return this.#policy;
  }

  /** Puts other caps in force, from the next charge on. */
  set policy(policy: BudgetPolicy) {
    if (policy.calendar.timeZone !== this.#policy.calendar.timeZone) {
      this.#days.follow(policy.calendar, this.#balance.size > 0);
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

  /** The day that costs are booked to: the present one, or the one that the clock has shown before it was set back. */
  get bookedTo(): string {
    return this.#days.booking.day.id;
  }

  /** When the balance of a period start anew. */
  resetsAt(period: Period): EpochMs {
    return this.window(period).end;
  }

  /** The first cap that a charge would pass, in the order of enforcement. What costs nothing passes none. */
  exceededBy(agent: AgentId, cost: Micros): Exceeded | undefined {
    return exceededUnder(this.#policy, this, tiersOf(agent), cost);
  }

  /** Holds a charge back in all tiers, and tells which shares of caps are used up by it. */
  reserve(agent: AgentId, cost: Micros): Booked {
    return this.#change(tiersOf(agent), (balance) => {
      balance.reserved = plus(balance.reserved, cost);
    });
  }

  /** Holds back again what was held back before a restart; nobody is told. */
  hold(agent: AgentId, cost: Micros): void {
    if (cost === 0) return;
    for (const of of tiersOf(agent)) {
      const balance = this.#of(of);
      balance.reserved = plus(balance.reserved, cost);
    }
  }

  /** The action is over: what it did cost takes the place of what was held back for it, on the day that is told. */
  settle(agent: AgentId, reserved: Micros, actual: Micros): Booked {
    const settled = this.#change(tiersOf(agent), (balance) => {
      balance.reserved = minus(balance.reserved, reserved);
      if (actual !== 0) for (const period of periods) book(balance, period, actual);
    });
    if (actual !== 0) this.#days.noteBooked();
    return settled;
  }

  /** Somebody corrects what was settled today and this month, in all of these tiers. */
  correct(tiers: readonly TierOf[], amounts: Readonly<Record<Period, Total>>): Booked {
    const corrected = this.#change(tiers, (balance) => {
      for (const period of periods) if (amounts[period] !== 0) book(balance, period, amounts[period]);
    });
    this.#days.noteBooked();
    return corrected;
  }

  /** The action never was, or nobody will tell: what was held back is free again. */
  release(agent: AgentId, reserved: Micros): Undo {
    return this.#change(tiersOf(agent), (balance) => {
      balance.reserved = minus(balance.reserved, reserved);
    }).undo;
  }

  /** The balance of a tier as they count now; of one that never spent anything none are kept. */
  read(of: TierOf): Readonly<Balance> {
    const known = this.#balance.get(tierKey(of));
    if (known === undefined) return { ...freshSums(of, idsOf(this.windows)), reserved: 0 };
    this.#align(known);
    if (!this.#days.isBehind) return known;
    const [day, month] = [this.#counted(known, 'day'), this.#counted(known, 'month')];
    return {
      ...known,
      spent: { day: day.spent, month: month.spent },
      noticed: { day: day.noticed, month: month.noticed },
      window: idsOf(this.windows),
    };
  }

  all(): Readonly<Balance>[] {
    return [...this.#balance.values()].map(({ of }) => this.read(of));
  }

  /** Balance of which nothing is left to say, and for which nothing is held back, need no place. */
  forgetIdle(): void {
    const oldest = this.#oldest();
    for (const [key, balance] of this.#balance) {
      this.#align(balance);
      if (balance.reserved === 0 && isEmpty(balance, oldest)) this.#balance.delete(key);
    }
  }

  /** Puts back what a store remembered. A day that was begun stays so. */
  restore(saved: SavedBalance): void {
    this.#balance.set(tierKey(saved.of), { ...sumsOf(saved), reserved: 0 });
    const { spent, window, earlier } = saved;
    // Balance are moved on to days on which nothing happens, too.
    const day = spent.day === 0 ? (earlier?.day.at(-1)?.id ?? window.day) : window.day;
    this.#days.restore({ day, month: monthOf(day) });
  }

  /**
   * The clock has shown a day that is not yet for so long that it was wrong before: goes back to the present day, for which
   * all that was booked later counts from now on. Undefined where there is nothing to go back from.
   */
  goBack(): { readonly undo: Undo; readonly from: string; readonly to: string } | undefined {
    const from = this.bookedTo;
    const undoDays = this.#days.goBack();
    if (undoDays === undefined) return undefined;
    const before: [Balance, Balance][] = [];
    const to = this.#days.bookingIds;
    const oldest = this.#oldest();
    for (const balance of this.#balance.values()) {
      before.push([balance, copyOf(balance)]);
      moveBack(balance, to, oldest);
    }
    const undo = () => {
      undoDays();
      for (const [balance, was] of before) Object.assign(balance, was);
    };
    return { undo, from, to: to.day };
  }

  #change(tiers: readonly TierOf[], change: (balance: Balance) => void): Booked {
    const before: [Balance, Balance][] = [];
    const approached: Approached[] = [];
    // One day for all tiers, though midnight may come in between.
    const { bookingIds } = this.#days;
    for (const of of tiers) {
      const balance = this.#of(of, bookingIds);
      before.push([balance, copyOf(balance)]);
      change(balance);
      approached.push(...this.#approached(balance));
    }
    const undo = () => {
      for (const [balance, was] of before) Object.assign(balance, was);
    };
    return { undo, approached, day: bookingIds.day };
  }

  #approached(balance: Balance): Approached[] {
    const caps = this.#policy.capsOf(balance.of);
    const found: Approached[] = [];
    for (const period of periods) {
      const limitMicros = caps[period];
      if (limitMicros === null) continue;
      const { spent, noticed } = this.#counted(balance, period);
      const totalMicros = plus(spent, balance.reserved);
      for (const percent of thresholds) {
        if (noticed >= percent || !isShareOf(totalMicros, percent, limitMicros)) continue;
        balance.noticed[period] = percent;
        found.push({ of: balance.of, period, percent, limitMicros, totalMicros });
      }
    }
    return found;
  }

  /** What counts for the present day or month. */
  #counted(balance: Balance, period: Period): { readonly spent: Total; readonly noticed: number } {
    if (!this.#days.isBehind) return { spent: balance.spent[period], noticed: balance.noticed[period] };
    return countedFrom(balance, period, later(this.windows[period].id, this.#oldest()[period]));
  }

  /** The same balance, on the day that is booked to. Those that were ahead of it have nothing on record there. */
  #align(balance: Balance, booking = this.#days.bookingIds): Balance {
    if (balance.window.day < booking.day) moveOn(balance, booking);
    else if (balance.window.day > booking.day) moveBack(balance, booking, this.#oldest());
    return balance;
  }

  #oldest(): WindowIds {
    return oldestOf(this.#balance.get(tierKey(everybody)));
  }

  #of(of: TierOf, booking = this.#days.bookingIds): Balance {
    const key = tierKey(of);
    const known = this.#balance.get(key);
    if (known !== undefined) return this.#align(known, booking);
    const balance: Balance = { ...freshSums(of, booking), reserved: 0 };
    this.#balance.set(key, balance);
    return balance;
  }
}
