import type { EpochMs } from '../kernel/index.ts';

export type Period = 'day' | 'month';

/** The periods of a balance, in the order of their checks: the longer first (spec, Budgets). */
export const periods = ['month', 'day'] as const satisfies readonly Period[];

/** A span of local time from `start` until `end`, when it resets. */
export interface Window {
  /** `2026-11-15` or `2026-11`, in the calendar of the time zone. */
  readonly id: string;
  readonly start: EpochMs;
  readonly end: EpochMs;
}

/** The name of the month of a day. */
export function monthOf(day: string): string {
  return day.slice(0, day.lastIndexOf('-'));
}

/** The name of the period that a day is in. */
export function windowOf(period: Period, day: string): string {
  return period === 'day' ? day : monthOf(day);
}

/** The days and months of one time zone. Throws a `RangeError` for an unknown zone. */
export class Calendar {
  readonly timeZone: string;
  /** The date of a moment, as in `2026-11-15`. */
  readonly #dateOf: (at: EpochMs) => string;

  constructor(timeZone: string) {
    this.timeZone = timeZone;
    this.#dateOf = timeZone === 'UTC' ? dateInUtc : datesIn(timeZone);
  }

  /** The day or month of that name. Undefined if this calendar skipped it. */
  named(period: Period, id: string): Window | undefined {
    const noon = Date.parse(period === 'day' ? `${id}T12:00:00Z` : `${id}-15T12:00:00Z`);
    // Noon in UTC is the same day nearly everywhere. The furthest zones are ahead or behind by more.
    const windows = [0, -13 * hour, 13 * hour].map((offset) => this.window(period, noon + offset));
    return windows.find((window) => window.id === id);
  }

  window(period: Period, at: EpochMs): Window {
    const id = this.#idOf(period, at);
    return { id, start: this.#edge(period, id, at, -1) + 1, end: this.#edge(period, id, at, 1) };
  }

  #idOf(period: Period, at: EpochMs): string {
    const date = this.#dateOf(at);
    return period === 'day' ? date : date.slice(0, date.lastIndexOf('-'));
  }

  /**
   * The nearest moment, later or earlier, at which the calendar shows another name. It is searched, not computed: clock
   * changes make days of 23 or 25 hours, and some days begin at one o'clock.
   */
  #edge(period: Period, id: string, at: EpochMs, direction: 1 | -1): EpochMs {
    let inside = at;
    let outside = at + direction * longest[period];
    while (Math.abs(outside - inside) > 1) {
      const middle = Math.floor((inside + outside) / 2);
      if (this.#idOf(period, middle) === id) inside = middle;
      else outside = middle;
    }
    return outside;
  }
}

function datesIn(timeZone: string): (at: EpochMs) => string {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
  return (at) => format.format(at);
}

/** The usual zone needs no table of zones, which takes 15 ms of a start to load. */
function dateInUtc(at: EpochMs): string {
  const date = new Date(at).toISOString();
  return date.slice(0, date.indexOf('T'));
}

const hour = 3_600_000;

/** Longer than any period: some zones have skipped a whole day. */
const longest: Readonly<Record<Period, number>> = { day: 50 * hour, month: 33 * 24 * hour };
