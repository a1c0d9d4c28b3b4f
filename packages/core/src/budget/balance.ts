import type { EpochMs, Micros, Total } from '../kernel/index.ts';
import { plus } from '../kernel/index.ts';
import type { Period, Window } from './period.ts';
import { monthOf, periods, windowOf } from './period.ts';
import type { TierOf } from './tier.ts';

/**
 * What one tier has settled. It is replaced as a whole and never changed, so the former one is the way back. Nearly all
 * tiers are of the same day and have nothing more to tell: they share what says that.
 */
export interface Sums {
  /** Settled within the day and the month. */
  readonly spent: Readonly<Record<Period, Total>>;
  /** Which day and which month that is: the latest that anything was booked to. */
  readonly window: WindowIds;
  /** The highest share of the cap, in percent, that somebody was told about in this period. */
  readonly noticed: Readonly<Record<Period, number>>;
  /**
   * Earlier days and months with bookings, the oldest first. They count again if the clock turns out to have run ahead.
   */
  readonly earlier: Readonly<Record<Period, readonly EarlierWindow[]>>;
}

/** What one tier has spent and reserved. */
export class Balance {
  readonly of: TierOf;
  /** Reserved for actions that are not over. */
  reserved: Total = 0;
  sums: Sums;
  /** The sums contain what all entries up to this one have booked. */
  asOf: number;

  constructor(of: TierOf, sums: Sums, asOf = 0) {
    this.of = of;
    this.sums = sums;
    this.asOf = asOf;
  }

  get spent(): Sums['spent'] {
    return this.sums.spent;
  }

  get noticed(): Sums['noticed'] {
    return this.sums.noticed;
  }
}

/** An earlier day or month, and what was booked to it. */
export interface EarlierWindow {
  readonly id: string;
  readonly spent: Total;
  readonly noticed: number;
}

/** A balance as the store keeps it, without its reservations, which follow from the operations in flight. */
export interface SavedBalance extends Omit<Sums, 'earlier'> {
  readonly of: TierOf;
  /** Absent if there is none. */
  readonly earlier?: Sums['earlier'];
  /** The balance is true as of this entry. 0 means as of the common mark of all balances. */
  readonly seq: number;
}

/** The saved balances are true up to this entry, by this calendar. */
export interface BalancesMark {
  readonly seq: number;
  readonly timeZone: string;
}

/** Where there are no saved balances yet. */
export const noBalancesMark: BalancesMark = { seq: 0, timeZone: 'UTC' };

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

const nothingEarlier: Sums['earlier'] = { day: [], month: [] };

/** Before the first booking, on no day. */
export const nothingBooked: Sums = {
  spent: { day: 0, month: 0 },
  window: { day: '', month: '' },
  noticed: { day: 0, month: 0 },
  earlier: nothingEarlier,
};

export function sumsOf({ spent, window, noticed, earlier = nothingEarlier }: Omit<SavedBalance, 'seq' | 'of'>): Sums {
  return { spent, window, noticed, earlier };
}

/** A day and its month. Facts name days, so nearly always it is the same day as before. */
let known: WindowIds = { day: '', month: '' };

export function idsOfDay(day: string): WindowIds {
  if (known.day !== day) known = { day, month: monthOf(day) };
  return known;
}

/** The sums on a day and month that come later. What is over goes to `earlier`. */
export function movedOn(sums: Sums, to: WindowIds): Sums {
  let after = sums;
  for (const period of periods) {
    const id = after.window[period];
    if (id >= to[period]) continue;
    const closed = { id, spent: after.spent[period], noticed: after.noticed[period] };
    const window = { ...after.window, [period]: to[period] };
    after = {
      ...after,
      window: window.day === to.day && window.month === to.month ? to : window,
      ...(closed.spent === 0 && closed.noticed === 0
        ? {}
        : {
            spent: { ...after.spent, [period]: 0 },
            noticed: withNoticed(after.noticed, period, 0),
            earlier: { ...after.earlier, [period]: [...after.earlier[period], closed] },
          }),
    };
  }
  return after;
}

/**
 * The sums on a day and month that come before. Amounts booked to them and later count for them. Windows older than
 * `oldest` are no longer known.
 */
export function movedBack(sums: Sums, to: WindowIds, oldest: WindowIds): Sums {
  let after = sums;
  for (const period of periods) {
    if (after.window[period] <= to[period]) continue;
    const { spent, noticed } = countedFrom(after, period, later(to[period], oldest[period]));
    after = {
      spent: { ...after.spent, [period]: spent },
      noticed: withNoticed(after.noticed, period, noticed),
      window: { ...after.window, [period]: to[period] },
      earlier: { ...after.earlier, [period]: after.earlier[period].filter(({ id }) => id < to[period]) },
    };
  }
  return after;
}

/** The sums with an amount more on a day: the present one, a later one that now begins, or an earlier one. */
export function booked(sums: Sums, day: string, amounts: Readonly<Record<Period, Total>>): Sums {
  const ids = idsOfDay(day);
  let after = movedOn(sums, ids);
  if (after.window === ids || (after.window.day === day && after.window.month === ids.month)) {
    const { spent } = after;
    const more = { day: plus(spent.day, amounts.day), month: plus(spent.month, amounts.month) };
    return { ...after, spent: more, earlier: recent(after.earlier) };
  }
  for (const period of periods)
    if (amounts[period] !== 0) after = bookedTo(after, period, ids[period], amounts[period]);
  return after;
}

function bookedTo(sums: Sums, period: Period, id: string, amount: Total): Sums {
  if (id === sums.window[period]) {
    const spent = { ...sums.spent, [period]: plus(sums.spent[period], amount) };
    return { ...sums, spent, earlier: recent(sums.earlier) };
  }
  return withEarlier(sums, period, id, (window) => ({ ...window, spent: plus(window.spent, amount) }));
}

/** The sums after somebody was told about a used share of a cap on that day. */
export function noticedOn(sums: Sums, period: Period, percent: number, day: string): Sums {
  const after = movedOn(sums, idsOfDay(day));
  const id = windowOf(period, day);
  if (id === after.window[period]) {
    return { ...after, noticed: withNoticed(after.noticed, period, Math.max(after.noticed[period], percent)) };
  }
  return withEarlier(after, period, id, (window) => ({ ...window, noticed: Math.max(window.noticed, percent) }));
}

/** The sums with another share of a cap that somebody was told about, where that was the highest one. */
export function unnoticed(sums: Sums, period: Period, percent: number, before: number): Sums {
  if (sums.noticed[period] !== percent) return sums;
  return { ...sums, noticed: withNoticed(sums.noticed, period, before) };
}

function withNoticed(noticed: Sums['noticed'], period: Period, percent: number): Sums['noticed'] {
  return noticed[period] === percent ? noticed : { ...noticed, [period]: percent };
}

function withEarlier(sums: Sums, period: Period, id: string, change: (window: EarlierWindow) => EarlierWindow): Sums {
  const earlier = sums.earlier[period];
  const changed = change(earlier.find((each) => each.id === id) ?? { id, spent: 0, noticed: 0 });
  const windows = [...earlier.filter((each) => each.id !== id), changed].sort((a, b) => (a.id < b.id ? -1 : 1));
  return { ...sums, earlier: { ...sums.earlier, [period]: windows.slice(-earlierKept[period]) } };
}

/** Of the earlier days and months, only the newest are kept. */
function recent(earlier: Sums['earlier']): Sums['earlier'] {
  if (periods.every((period) => earlier[period].length <= earlierKept[period])) return earlier;
  return { day: earlier.day.slice(-earlierKept.day), month: earlier.month.slice(-earlierKept.month) };
}

/** What counts for a day or month: the amounts booked to it and to all later ones. */
function countedFrom(sums: Sums, period: Period, id: string): Omit<EarlierWindow, 'id'> {
  let spent = sums.spent[period];
  let noticed = sums.noticed[period];
  for (const window of sums.earlier[period]) {
    if (window.id < id) continue;
    spent = plus(spent, window.spent);
    noticed = Math.max(noticed, window.noticed);
  }
  return { spent, noticed };
}

/** What counts for the present day and month. */
export function countedIn(sums: Sums, present: WindowIds, oldest: WindowIds): Pick<Sums, 'spent' | 'noticed'> {
  const counted = (period: Period) => {
    const from = later(present[period], oldest[period]);
    // What was booked earlier no longer counts.
    return sums.window[period] < from ? { spent: 0, noticed: 0 } : countedFrom(sums, period, from);
  };
  const [day, month] = [counted('day'), counted('month')];
  return { spent: { day: day.spent, month: month.spent }, noticed: { day: day.noticed, month: month.noticed } };
}

function later(one: string, other: string): string {
  return one > other ? one : other;
}

/** Whether sums hold nothing that counts. Windows older than the oldest of everybody's balance count for nobody. */
export function isEmpty(sums: Sums, oldest: WindowIds): boolean {
  return periods.every(
    (period) =>
      sums.spent[period] === 0 &&
      sums.noticed[period] === 0 &&
      sums.earlier[period].every(({ id }) => id < oldest[period]),
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

/** The latest day with a booking. */
export function lastBooked({ spent, window, earlier }: Sums): string | undefined {
  return spent.day === 0 ? earlier.day.findLast((each) => each.spent !== 0)?.id : window.day;
}
