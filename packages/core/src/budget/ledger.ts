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

/** The result of a change: how to undo it, which shares of caps it used up, and the day it was booked to. */
export interface Booked {
  readonly undo: Undo;
  readonly approached: readonly Approached[];
  readonly day: string;
}

/** The shares of a cap, in percent, at which somebody is told once per period. */
export const thresholds = [80, 95] as const;

/**
 * What was spent and what is reserved, for everybody, each org, each team and each agent. A charge is reserved in all
 * tiers or in none. It is settled when the action is over, and released if the action never happened. Reservations last
 * over midnight. Settled amounts belong to the day and month they were booked to.
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

  /** The day that costs are booked to: the present one, or the one that the clock showed before it was set back. */
  get bookedTo(): string {
    return this.#days.booking.day.id;
  }

  /** When the balances of a period start anew. */
  resetsAt(period: Period): EpochMs {
    return this.window(period).end;
  }

  /** The first cap that a charge would pass, in the order of enforcement. A charge of zero passes none. */
  exceededBy(agent: AgentId, cost: Micros): Exceeded | undefined {
    return exceededUnder(this.#policy, this, tiersOf(agent), cost);
  }

  /** Reserves a charge in all tiers, and returns which shares of caps it used up. */
  reserve(agent: AgentId, cost: Micros): Booked {
    return this.#change(tiersOf(agent), (balance) => {
      balance.reserved = plus(balance.reserved, cost);
    });
  }

  /** Restores a reservation from before a restart. Nobody is told. */
  hold(agent: AgentId, cost: Micros): void {
    if (cost === 0) return;
    for (const of of tiersOf(agent)) {
      const balance = this.#of(of);
      balance.reserved = plus(balance.reserved, cost);
    }
  }

  /** Settles an action that is over: its actual cost replaces its reservation. The result names the day. */
  settle(agent: AgentId, reserved: Micros, actual: Micros): Booked {
    const settled = this.#change(tiersOf(agent), (balance) => {
      balance.reserved = minus(balance.reserved, reserved);
      if (actual !== 0) for (const period of periods) book(balance, period, actual);
    });
    if (actual !== 0) this.#days.noteBooked();
    return settled;
  }

  /** Corrects what was settled today and this month, in all of these tiers. */
  correct(tiers: readonly TierOf[], amounts: Readonly<Record<Period, Total>>): Booked {
    const corrected = this.#change(tiers, (balance) => {
      for (const period of periods) if (amounts[period] !== 0) book(balance, period, amounts[period]);
    });
    this.#days.noteBooked();
    return corrected;
  }

  /** Releases a reservation: the action never happened, or nobody will report it. */
  release(agent: AgentId, reserved: Micros): Undo {
    return this.#change(tiersOf(agent), (balance) => {
      balance.reserved = minus(balance.reserved, reserved);
    }).undo;
  }

  /** The balance of a tier as it counts now. A tier that never spent anything has no balance on record. */
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

  /** Removes empty balances without reservations. */
  forgetIdle(): void {
    const oldest = this.#oldest();
    for (const [key, balance] of this.#balance) {
      this.#align(balance);
      if (balance.reserved === 0 && isEmpty(balance, oldest)) this.#balance.delete(key);
    }
  }

  /** Restores a saved balance. A begun day stays begun. */
  restore(saved: SavedBalance): void {
    this.#balance.set(tierKey(saved.of), { ...sumsOf(saved), reserved: 0 });
    const { spent, window, earlier } = saved;
    // Balances also move on to days without bookings.
    const day = spent.day === 0 ? (earlier?.day.at(-1)?.id ?? window.day) : window.day;
    this.#days.restore({ day, month: monthOf(day) });
  }

  /**
   * Goes back to the present day, once the clock has stayed behind for so long that it was wrong before. All amounts
   * booked later then count for the present day. Undefined if there is nothing to go back from.
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
    // All tiers get the same day, even if midnight comes in between.
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

  /** Moves a balance to the booking day. A balance that is ahead of it has nothing on record there. */
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
