import { formatUsd, usdToMicros } from '../../api/format.ts';
import type { Period } from './budget-model.ts';

/** A recorded day or month. */
export interface HistoryWindow {
  readonly starts_at: string;
  readonly ends_at: string;
  readonly spent_usd: string;
  readonly limit_usd: string | null;
  /** Whether the period is over. */
  readonly closed: boolean;
}

/** A day or month of the chart. Without a window, nothing is known of it. */
export interface HistorySlot {
  /** The middle of the period, in milliseconds. */
  readonly at: number;
  readonly window: HistoryWindow | undefined;
}

const hour = 3_600_000;

/** The windows, with a slot for each missing one between two of them, so that a gap is visible. */
export function slotsOf(windows: readonly HistoryWindow[], period: Period): HistorySlot[] {
  const slots: HistorySlot[] = [];
  let end: number | undefined;
  for (const window of windows) {
    const start = Date.parse(window.starts_at);
    // Days have 23 to 25 hours. A gap counts whole days.
    while (end !== undefined && start - end > 12 * hour) {
      const next: number = endOf(end, start, period);
      slots.push({ at: (end + next) / 2, window: undefined });
      end = next;
    }
    end = Date.parse(window.ends_at);
    slots.push({ at: (start + end) / 2, window });
  }
  return slots;
}

/** The end of a window that starts here, at most the start of the next known one. */
function endOf(start: number, limit: number, period: Period): number {
  if (period === 'day') return limit - start < 36 * hour ? limit : start + 24 * hour;
  // Goes to the middle of the month, whatever the zone, then to the start of the next.
  const middle = new Date(start + 15 * 24 * hour);
  const next = Date.UTC(middle.getUTCFullYear(), middle.getUTCMonth() + 1, 1) + zoneShift(start);
  return Math.abs(limit - next) < 36 * hour ? limit : next;
}

/** The offset of local midnight from UTC midnight, taken from a known local midnight. */
function zoneShift(midnight: number): number {
  const past = midnight % (24 * hour);
  return past > 12 * hour ? past - 24 * hour : past;
}

export interface HistoryAmounts {
  /** In micro-dollars, for the chart. Undefined leaves a gap. */
  readonly spent: number | undefined;
  readonly limit: number | undefined;
}

export function amountsOf({ window }: HistorySlot): HistoryAmounts {
  return { spent: micros(window?.spent_usd), limit: micros(window?.limit_usd) };
}

function micros(usd: string | null | undefined): number | undefined {
  const exact = typeof usd === 'string' ? usdToMicros(usd) : undefined;
  return exact === undefined ? undefined : Number(exact);
}

const labels: Readonly<Record<Period, readonly [full: Intl.DateTimeFormat, short: Intl.DateTimeFormat]>> = {
  day: [
    new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' }),
    new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' }),
  ],
  month: [
    new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric' }),
    new Intl.DateTimeFormat(undefined, { month: 'short' }),
  ],
};

/** Uses the middle, which lies in the same day or month in every zone. */
export function slotLabel(at: number, period: Period, isShort = false): string {
  return labels[period][isShort ? 1 : 0].format(at);
}

/** A slot in one sentence, for screen readers. */
export function describeSlot({ window }: HistorySlot): string {
  if (window === undefined) return 'not known';
  const cap = window.limit_usd === null ? 'spent, no cap' : `of ${formatUsd(window.limit_usd)}`;
  return `${formatUsd(window.spent_usd)} ${cap}${window.closed ? '' : ' so far'}`;
}
