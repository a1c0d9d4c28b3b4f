import type { EpochMs, Micros, Total } from '../kernel/index.ts';
import { plus } from '../kernel/index.ts';
import type { Period, Window } from './period.ts';
import { periods } from './period.ts';
import type { TierOf } from './tier.ts';

/** What one tier has spent and holds back. */
export interface Balance {
  readonly of: TierOf;
  /** Held back for actions that are not over. */
  reserved: Total;
  /** Settled within the day and the month. */
  spent: Record<Period, Total>;
  /** Which day and which month that is. */
  window: Record<Period, string>;
  /** The highest share of its cap, in percent, that was told about in this period. */
  noticed: Record<Period, number>;
  /** The days and months before in which something was booked, the oldest first: a clock may turn out to have run ahead. */
  earlier: Record<Period, readonly EarlierWindow[]>;
}

/** A day or month before, and what was booked to it. */
export interface EarlierWindow {
  readonly id: string;
  readonly spent: Total;
  readonly noticed: number;
}

/** Balance without what is reserved, which follows from the operations in flight. */
export type Sums = Omit<Balance, 'reserved'>;

/** Balance as a store remembers them. */
export interface SavedBalance extends Omit<Sums, 'earlier'> {
  /** Left out where there is none. */
  readonly earlier?: Sums['earlier'];
  /** The entry that they are true as of; 0: the one that all of them together are true as of. */
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
  /** The cap that was in force when it closed; null where there was none. */
  readonly limitMicros: Micros | null;
}

/** Reads what was spent in days and months that are over. */
export interface ClosedPeriodReader {
  /** The newest `count` of one tier, the newest last. */
  closedPeriods(of: TierOf, period: Period, count: number): Promise<readonly ClosedPeriod[]>;
}

/** How many days, and how many months, that are over are kept. */
export const closedKept: Readonly<Record<Period, number>> = { day: 400, month: 60 };

/** To how many days, and months, in which something was booked a clock can be set back so that they still count. */
const earlierKept: Readonly<Record<Period, number>> = { day: 4, month: 2 };

export type Windows = Readonly<Record<Period, Window>>;
export type WindowIds = Readonly<Record<Period, string>>;

export function idsOf({ day, month }: Windows): WindowIds {
  return { day: day.id, month: month.id };
}

export function freshSums(of: TierOf, window: WindowIds): Sums {
  return {
    of,
    spent: { day: 0, month: 0 },
    window: { ...window },
    noticed: { day: 0, month: 0 },
    earlier: { day: [], month: [] },
  };
}

export function sumsOf({ of, spent, window, noticed, earlier = nothingEarlier }: SavedBalance): Sums {
  return { of, spent: { ...spent }, window: { ...window }, noticed: { ...noticed }, earlier: { ...earlier } };
}

const nothingEarlier: Sums['earlier'] = { day: [], month: [] };

/** Moves balance on to a day and month; what is over stands behind them. `onClose` is told of each that is. */
export function moveOn(balance: Sums, to: WindowIds, onClose?: (period: Period, closed: EarlierWindow) => void): void {
  for (const period of periods) {
    const id = balance.window[period];
    if (id >= to[period]) continue;
    const closed = { id, spent: balance.spent[period], noticed: balance.noticed[period] };
    if (closed.spent !== 0 || closed.noticed !== 0) {
      balance.earlier[period] = [...balance.earlier[period], closed];
      onClose?.(period, closed);
    }
    balance.window[period] = to[period];
    balance.spent[period] = 0;
    balance.noticed[period] = 0;
  }
}

/**
 * Takes balance back to a day and month: what was booked to them, and later, counts for them. What is older than `oldest` is
 * not known any more. `onMove` is told of each that was on record.
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
    balance.earlier[period] = balance.earlier[period].filter(({ id }) => id < to[period]);
    balance.window[period] = to[period];
    balance.spent[period] = spent;
    balance.noticed[period] = noticed;
  }
}

/** Adds to what was spent in a period. Of the days and months before, only the newest are kept from then on. */
export function book(balance: Sums, period: Period, amount: Total): void {
  balance.spent[period] = plus(balance.spent[period], amount);
  const earlier = balance.earlier[period];
  if (earlier.length > earlierKept[period]) balance.earlier[period] = earlier.slice(-earlierKept[period]);
}

/** What counts for a day or month: what was booked to it, and to whatever came after it. */
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

/** Whether nothing is left to say. What is older than the oldest that counts for anybody counts for nobody. */
export function isEmpty(balance: Sums, oldest: WindowIds): boolean {
  return periods.every(
    (period) =>
      balance.spent[period] === 0 &&
      balance.noticed[period] === 0 &&
      balance.earlier[period].every(({ id }) => id < oldest[period]),
  );
}

/** The oldest day and month that count: of everybody's balance, to which every cost is booked. */
export function oldestOf(everybody: Sums | undefined): WindowIds {
  if (everybody === undefined) return { day: '', month: '' };
  const { earlier, window } = everybody;
  const month = earlier.month[0]?.id ?? window.month;
  // The name of a month comes before those of its days.
  return { day: later(earlier.day[0]?.id ?? window.day, month), month };
}

export function copyOf<Kind extends Sums>(balance: Kind): Kind {
  const { spent, window, noticed, earlier } = balance;
  return {
    ...balance,
    spent: { ...spent },
    window: { ...window },
    noticed: { ...noticed },
    earlier: { ...earlier },
  };
}
