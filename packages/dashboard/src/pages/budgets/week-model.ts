import { usdToMicros } from '../../api/format.ts';
import type { Budget, Span } from './budget-model.ts';
import { budgetKey } from './budget-model.ts';
import type { BudgetsSearch } from './budgets-search.ts';
import type { HistoryWindow } from './history-model.ts';

/** What an agent has spent in the last seven days, today included. */
export interface WeekRow {
  readonly budget: Budget;
  readonly spentMicros: bigint;
}

const day = 24 * 3_600_000;
/** Days have 23 to 25 hours, so the start of a day is not known to the hour from another day's end. */
const slack = 2 * 3_600_000;

/** When the last seven days began, from the end of today. */
export function weekStart(dayEnds: string): number {
  return Date.parse(dayEnds) - 7 * day;
}

/** When the month began that ends then. It began at the same hour of its first day. */
export function monthStart(monthEnds: string): number {
  const end = Date.parse(monthEnds);
  // Twelve hours later it is the first of the next month in UTC, too, whatever the zone.
  const first = new Date(end + day / 2);
  const inUtc = (months: number) => Date.UTC(first.getUTCFullYear(), first.getUTCMonth() - months, 1);
  return inUtc(1) + (end - inUtc(0));
}

/** When a span began, from the budgets of both periods. */
export function spanStart(span: Span, budgets: readonly Pick<Budget, 'period' | 'resets_at'>[]): number | undefined {
  const ends = budgets.find(({ period }) => period === (span === 'month' ? 'month' : 'day'))?.resets_at;
  if (ends === undefined) return undefined;
  if (span === 'month') return monthStart(ends);
  return span === 'week' ? weekStart(ends) : Date.parse(ends) - day;
}

export function spentSince(windows: readonly HistoryWindow[], since: number): bigint {
  return windows
    .filter(({ starts_at: at }) => Date.parse(at) >= since - slack)
    .reduce((sum, { spent_usd: usd }) => sum + (usdToMicros(usd) ?? 0n), 0n);
}

/**
 * The agents whose days have to be asked for, those that spent most this month first. Who spent nothing this month spent
 * nothing this week, unless the week began in the month before.
 */
export function agentsToAsk(months: readonly Budget[], since: number, most: number) {
  const [first] = months;
  const isWithinMonth = first === undefined || since >= monthStart(first.resets_at) - slack;
  const spent = (budget: Budget) => usdToMicros(budget.spent_usd) ?? 0n;
  const wanted = months
    .filter((budget) => !isWithinMonth || spent(budget) > 0n)
    .sort((a, b) => (spent(a) === spent(b) ? 0 : spent(a) < spent(b) ? 1 : -1));
  return { asked: wanted.slice(0, most), left: wanted.slice(most) };
}

/** The rows that the filters leave, the dearest first unless the cheapest are looked for. */
export function shownWeek(
  rows: readonly WeekRow[],
  { q = '', org_id, team_id }: Pick<BudgetsSearch, 'q' | 'org_id' | 'team_id'>,
  isAscending: boolean,
): readonly WeekRow[] {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  const sign = isAscending ? 1 : -1;
  return rows
    .filter(({ budget }) => {
      const key = budgetKey(budget);
      const [org, team] = key.split('/');
      const isWithin = (org_id === undefined || org === org_id) && (team_id === undefined || team === team_id);
      return isWithin && words.every((word) => key.toLowerCase().includes(word));
    })
    .sort((a, b) =>
      a.spentMicros === b.spentMicros
        ? budgetKey(a.budget).localeCompare(budgetKey(b.budget))
        : sign * (a.spentMicros < b.spentMicros ? -1 : 1),
    );
}
