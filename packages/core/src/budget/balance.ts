import type { EpochMs, Micros, Total } from '../kernel/index.ts';
import { plus } from '../kernel/index.ts';
import type { Period, Window } from './period.ts';
import { periods } from './period.ts';
import type { TierOf } from './tier.ts';

/**
 * What one tier has spent and reserved. There is one for each agent, and nearly all of them are of the same day and
 * have nothing more to tell. So they share what says that: it is replaced, and never changed.
 */
export interface Balance {
  readonly of: TierOf;
  /** Reserved for actions that are not over. */
  reserved: Total;
  /** Settled within the day and the month. */
  spent: Record<Period, Total>;
  /** Which day and which month that is. */
  window: WindowIds;
  /** The highest share of the cap, in percent, that somebody was told about in this period. */
  noticed: Readonly<Record<Period, number>>;
  /**
   * Earlier days and months with bookings, the oldest first. They count again if the clock turns out to have run ahead.
   */
  earlier: Readonly<Record<Period, readonly EarlierWindow[]>>;
}

/** An earlier day or month, and what was booked to it. */
export interface EarlierWindow {
  readonly id: string;
  readonly spent: Total;
  readonly noticed: number;
}

/** A balance without its reservations, which follow from the operations in flight. */
export type Sums = Omit<Balance, 'reserved'>;

/** A balance as the store keeps it. */
export interface SavedBalance extends Omit<Sums, 'earlier'> {
  /** Absent if there is none. */
  readonly earlier?: Sums['earlier'];
  /** The balance is true as of this entry. 0 means as of the common mark of all balances. */
  readonly seq: number;
}

/** What a tier has spent in a day or month that is over. */
export interface ClosedPeriod {
  readonly of: TierOf;
  readonly period: Period;
  /** `2026-11-15` or `2026-11`. */
  readonly id: string;
  readonly startsAt: EpochMs;
  readonly endsAt: EpochMs;
  readonly spentMicros: Total;
  /** The cap that was in force when it closed; null if there was none. */
  readonly limitMicros: Micros | null;
}

/** Reads what was spent in days and months that are over. */
export interface ClosedPeriodReader {
  /** The newest `count` periods of one tier, the newest last. */
  closedPeriods(of: TierOf, period: Period, count: number): Promise<readonly ClosedPeriod[]>;
}

/** How many past days and months are kept. */
export const closedKept: Readonly<Record<Period, number>> = { day: 400, month: 60 };

/** How many days and months with bookings a clock can be set back over, so that they still count. */
const earlierKept: Readonly<Record<Period, number>> = { day: 4, month: 2 };

export type Windows = Readonly<Record<Period, Window>>;
export type WindowIds = Readonly<Record<Period, string>>;

export function idsOf({ day, month }: Windows): WindowIds {
  return { day: day.id, month: month.id };
}

export function freshSums(of: TierOf, window: WindowIds): Sums {
  return { of, spent: { day: 0, month: 0 }, window, noticed: nobodyTold, earlier: nothingEarlier };
}

export function sumsOf({ of, spent, window, noticed, earlier = nothingEarlier }: SavedBalance): Sums {
  return { of, spent: { ...spent }, window, noticed, earlier };
}

const nobodyTold: Sums['noticed'] = { day: 0, month: 0 };
const nothingEarlier: Sums['earlier'] = { day: [], month: [] };

/** Notes the share of a cap that somebody was told about. */
export function setNoticed(balance: Sums, period: Period, percent: number): void {
  if (balance.noticed[period] !== percent) balance.noticed = { ...balance.noticed, [period]: percent };
}

function setEarlier(balance: Sums, period: Period, windows: readonly EarlierWindow[]): void {
  balance.earlier = { ...balance.earlier, [period]: windows };
}

function setWindow(balance: Sums, period: Period, ids: WindowIds): void {
  const window: WindowIds = { ...balance.window, [period]: ids[period] };
  balance.window = window.day === ids.day && window.month === ids.month ? ids : window;
}

/** Moves a balance on to a day and month. What is over goes to `earlier`. `onClose` gets each closed window. */
export function moveOn(balance: Sums, to: WindowIds, onClose?: (period: Period, closed: EarlierWindow) => void): void {
  for (const period of periods) {
    const id = balance.window[period];
    if (id >= to[period]) continue;
    const closed = { id, spent: balance.spent[period], noticed: balance.noticed[period] };
    if (closed.spent !== 0 || closed.noticed !== 0) {
      setEarlier(balance, period, [...balance.earlier[period], closed]);
      onClose?.(period, closed);
    }
    setWindow(balance, period, to);
    balance.spent[period] = 0;
    setNoticed(balance, period, 0);
  }
}

/**
 * Moves a balance back to a day and month. Amounts booked to them and later count for them. Windows older than `oldest`
 * are no longer known. `onMove` gets each window that was on record.
 */
export function moveBack(
  balance: Sums,
  to: WindowIds,
  oldest: WindowIds,
  onMove?: (period: Period, id: string) => void,
): void {
  for (const period of periods) {
    if (balance.window[period] <= to[period]) continue;
    const { spent, noticed } = countedFrom(balance, period, later(to[period], oldest[period]));
    for (const { id } of balance.earlier[period]) if (id >= to[period]) onMove?.(period, id);
    setEarlier(
      balance,
      period,
      balance.earlier[period].filter(({ id }) => id < to[period]),
    );
    setWindow(balance, period, to);
    balance.spent[period] = spent;
    setNoticed(balance, period, noticed);
  }
}

/** Adds to what was spent in a period. Of the earlier days and months it keeps only the newest. */
export function book(balance: Sums, period: Period, amount: Total): void {
  balance.spent[period] = plus(balance.spent[period], amount);
  const earlier = balance.earlier[period];
  if (earlier.length > earlierKept[period]) setEarlier(balance, period, earlier.slice(-earlierKept[period]));
}

/** Adds to a named day or month: the present one, a later one that now begins, or an earlier one. */
export function bookTo(balance: Sums, period: Period, id: string, amount: Total): void {
  if (amount === 0) return;
  const { window } = balance;
  if (id >= window[period]) {
    if (id > window[period]) moveOn(balance, { ...window, [period]: id });
    book(balance, period, amount);
    return;
  }
  const earlier = balance.earlier[period];
  const known = earlier.find((each) => each.id === id) ?? { id, spent: 0, noticed: 0 };
  const booked = { ...known, spent: plus(known.spent, amount) };
  const others = earlier.filter((each) => each.id !== id);
  const windows = [...others, booked].sort((a, b) => (a.id < b.id ? -1 : 1));
  setEarlier(balance, period, windows.slice(-earlierKept[period]));
}

/** What counts for a day or month: the amounts booked to it and to all later ones. */
export function countedFrom(balance: Sums, period: Period, id: string): Omit<EarlierWindow, 'id'> {
  let spent = balance.spent[period];
  let noticed = balance.noticed[period];
  for (const window of balance.earlier[period]) {
    if (window.id < id) continue;
    spent = plus(spent, window.spent);
    noticed = Math.max(noticed, window.noticed);
  }
  return { spent, noticed };
}

export function later(one: string, other: string): string {
  return one > other ? one : other;
}

/**
 * Whether a balance holds nothing that counts. Windows older than the oldest of everybody's balance count for nobody.
 */
export function isEmpty(balance: Sums, oldest: WindowIds): boolean {
  return periods.every(
    (period) =>
      balance.spent[period] === 0 &&
      balance.noticed[period] === 0 &&
      balance.earlier[period].every(({ id }) => id < oldest[period]),
  );
}

/** The oldest day and month that count. They come from everybody's balance, which every cost is booked to. */
export function oldestOf(everybody: Sums | undefined): WindowIds {
  if (everybody === undefined) return { day: '', month: '' };
  const { earlier, window } = everybody;
  const month = earlier.month[0]?.id ?? window.month;
  // The name of a month comes before those of its days.
  return { day: later(earlier.day[0]?.id ?? window.day, month), month };
}

export function copyOf<Kind extends Sums>(balance: Kind): Kind {
  return { ...balance, spent: { ...balance.spent } };
}
