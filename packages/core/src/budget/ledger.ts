import type { Balance, SavedBalance, WindowIds, Windows } from './balance.ts';
import {
  book,
  bookTo,
  copyOf,
  countedFrom,
  freshSums,
  idsOf,
  isEmpty,
  later,
  moveBack,
  moveOn,
  oldestOf,
  setNoticed,
  sumsOf,
} from './balance.ts';
import type { Approached, Booked, Delta } from './booked.ts';
import { nothing, thresholds } from './booked.ts';
import type { BudgetPolicy } from './budget-policy.ts';
import { LedgerDays } from './ledger-days.ts';
import type { Period, Window } from './period.ts';
import { monthOf, periods, windowOf } from './period.ts';
import type { TierOf } from './tier.ts';
import { everybody, tierKey, tiersOf } from './tier.ts';
import type { Undo } from '../journal/index.ts';
import type { AgentId, Clock, EpochMs, Micros, Total } from '../kernel/index.ts';
import { isShareOf, minus, plus } from '../kernel/index.ts';
import { everyCap, exceededUnder } from './cap-rule.ts';
import { Released } from './released.ts';
import type { Exceeded } from './cap-rule.ts';

/**
 * What was spent and what is reserved, for everybody, each org, each team and each agent. A charge is reserved in all
 * tiers or in none. It is settled when the action is over, and released if the action never happened. Reservations last
 * over midnight. Settled amounts belong to the day and month they were booked to.
 */
export class Ledger {
  readonly #balance = new Map<string, Balance>();
  readonly #days: LedgerDays;
  /** What was released and is not durable yet. */
  readonly released = new Released();
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

  /**
   * Whether the totals of an agent's tiers are within their caps, even without the releases that are not durable yet:
   * the log may have those after the charge in question.
   */
  isSurelyWithinCaps(agent: AgentId): boolean {
    return everyCap(this, agent, ({ total, limit, of }) => plus(total, this.released.of(of)) <= limit);
  }

  /** Whether somebody was told about each share of a cap that is used up. */
  hasToldShares(agent: AgentId): boolean {
    return everyCap(this, agent, ({ total, limit, noticed }) =>
      thresholds.every((percent) => noticed >= percent || !isShareOf(total, percent, limit)),
    );
  }

  /** Reserves a charge in all tiers, and returns which shares of caps it used up. */
  reserve(agent: AgentId, cost: Micros): Booked {
    return this.#change(tiersOf(agent), { reserved: cost, settled: nothing });
  }

  /** Restores a reservation from before a restart. Nobody is told. */
  hold(agent: AgentId, cost: Total): void {
    if (cost === 0) return;
    for (const of of tiersOf(agent)) {
      const balance = this.#of(of);
      balance.reserved = plus(balance.reserved, cost);
    }
  }

  /** Settles an action that is over: its actual cost replaces its reservation. The result names the day. */
  settle(agent: AgentId, reserved: Micros, actual: Micros): Booked {
    const delta = { reserved: minus(0, reserved), settled: { day: actual, month: actual } };
    const settled = this.#change(tiersOf(agent), delta);
    if (actual !== 0) this.#days.noteBooked();
    return settled;
  }

  /** Corrects what was settled today and this month, in all of these tiers. */
  correct(tiers: readonly TierOf[], amounts: Readonly<Record<Period, Total>>): Booked {
    const corrected = this.#change(tiers, { reserved: 0, settled: amounts });
    this.#days.noteBooked();
    return corrected;
  }

  /** Releases a reservation: the action never happened, or nobody will report it. */
  release(agent: AgentId, reserved: Micros): Undo {
    return this.#change(tiersOf(agent), { reserved: minus(0, reserved), settled: nothing }).undo;
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

  /** Removes empty balances without reservations. Each balance is a step. */
  *forgettingIdle(): Generator<void> {
    for (const [key, balance] of this.#balance) {
      this.#align(balance);
      if (balance.reserved === 0 && isEmpty(balance, this.#oldest())) this.#balance.delete(key);
      yield;
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

  /**
   * Follows what another gateway has done: by how much it changed the reservations, and what it booked to which day.
   */
  follow(agent: AgentId, reserved: Total, settled: Total, day: string | undefined): void {
    if (reserved === 0 && settled === 0) return;
    if (day !== undefined && settled !== 0) this.#days.restore({ day, month: monthOf(day) });
    for (const of of tiersOf(agent)) {
      const balance = this.#of(of);
      balance.reserved = plus(balance.reserved, reserved);
      if (day !== undefined) for (const period of periods) bookTo(balance, period, windowOf(period, day), settled);
    }
  }

  /** Another gateway has found that its clock had been ahead: what was booked later counts for this day. */
  followBack(day: string): void {
    const to = { day, month: monthOf(day) };
    this.#days.followBack(to);
    const oldest = this.#oldest();
    for (const balance of this.#balance.values()) moveBack(balance, to, oldest);
  }

  /** Follows a correction that another gateway has booked. */
  followCorrection(of: TierOf, period: Period, amount: Total, day: string): void {
    this.#days.restore({ day, month: monthOf(day) });
    bookTo(this.#of(of), period, windowOf(period, day), amount);
  }

  /** Another gateway has told somebody that this share of the cap is used up. */
  followNotice(of: TierOf, period: Period, percent: number, day: string): void {
    const balance = this.#of(of);
    if (balance.window[period] === windowOf(period, day)) {
      setNoticed(balance, period, Math.max(balance.noticed[period], percent));
    }
  }

  /**
   * The way back subtracts what was added: another gateway may have changed the same balances in the meantime, and the
   * day may be over.
   */
  #change(tiers: readonly TierOf[], { reserved, settled }: Delta): Booked {
    const approached: Approached[] = [];
    // All tiers get the same day, even if midnight comes in between.
    const { bookingIds } = this.#days;
    for (const of of tiers) {
      const balance = this.#of(of, bookingIds);
      balance.reserved = plus(balance.reserved, reserved);
      for (const period of periods) if (settled[period] !== 0) book(balance, period, settled[period]);
      if (reserved > 0 || settled.month > 0) this.#noteApproached(balance, approached);
    }
    const undo = () => {
      for (const of of tiers) {
        const balance = this.#of(of);
        balance.reserved = minus(balance.reserved, reserved);
        for (const period of periods) bookTo(balance, period, bookingIds[period], minus(0, settled[period]));
      }
      for (const { of, period, percent, before } of approached.toReversed()) {
        const balance = this.#of(of);
        if (balance.noticed[period] === percent) setNoticed(balance, period, before);
      }
    };
    return { undo, approached, day: bookingIds.day };
  }

  #noteApproached(balance: Balance, found: Approached[]): void {
    const caps = this.#policy.capsOf(balance.of);
    for (const period of periods) {
      const limitMicros = caps[period];
      if (limitMicros === null) continue;
      const { spent, noticed } = this.#counted(balance, period);
      const totalMicros = plus(spent, balance.reserved);
      for (const percent of thresholds) {
        if (noticed >= percent || !isShareOf(totalMicros, percent, limitMicros)) continue;
        const before = balance.noticed[period];
        setNoticed(balance, period, percent);
        found.push({ of: balance.of, period, percent, limitMicros, totalMicros, before });
      }
    }
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
