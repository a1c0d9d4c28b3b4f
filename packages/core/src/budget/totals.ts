import type { ClosedPeriod, EarlierWindow, SavedBalance } from './balance.ts';
import type { BudgetEvent, BudgetsChange } from './budget-slice.ts';
import type { Period } from './period.ts';

/**
 * The same with another form of its sums. JSON has no number for a large sum, so texts write it in a form of their own.
 * Which members are sums is said here, once, by their places: no value is ever taken for a sum by how it looks.
 */
type EarlierOf<Sum> = Omit<EarlierWindow, 'spent'> & { readonly spent: Sum };
export type BalanceOf<Sum> = Omit<SavedBalance, 'spent' | 'earlier'> & {
  readonly spent: Readonly<Record<Period, Sum>>;
  readonly earlier?: Readonly<Record<Period, readonly EarlierOf<Sum>[]>>;
};
export type ClosedOf<Sum> = Omit<ClosedPeriod, 'spentMicros'> & { readonly spentMicros: Sum };
export type BudgetsChangeOf<Sum> = Omit<BudgetsChange, 'saved' | 'closed'> & {
  readonly saved: readonly BalanceOf<Sum>[];
  readonly closed: readonly ClosedOf<Sum>[];
};
export type BudgetEventOf<Sum> = Omit<BudgetEvent, 'amountMicros' | 'totalMicros'> & {
  readonly amountMicros?: Sum;
  readonly totalMicros: Sum;
};

export function mapBalance<From, To>(balance: BalanceOf<From>, as: (sum: From) => To): BalanceOf<To> {
  const { spent, earlier, ...rest } = balance;
  const each = (windows: readonly EarlierOf<From>[]) =>
    windows.map((window) => ({ ...window, spent: as(window.spent) }));
  const mapped = { ...rest, spent: { day: as(spent.day), month: as(spent.month) } };
  return earlier === undefined
    ? mapped
    : { ...mapped, earlier: { day: each(earlier.day), month: each(earlier.month) } };
}

export function mapClosed<From, To>(closed: ClosedOf<From>, as: (sum: From) => To): ClosedOf<To> {
  return { ...closed, spentMicros: as(closed.spentMicros) };
}

export function mapBudgetsChange<From, To>(change: BudgetsChangeOf<From>, as: (sum: From) => To): BudgetsChangeOf<To> {
  return {
    ...change,
    saved: change.saved.map((balance) => mapBalance(balance, as)),
    closed: change.closed.map((closed) => mapClosed(closed, as)),
  };
}

export function mapBudgetEvent<From, To>(event: BudgetEventOf<From>, as: (sum: From) => To): BudgetEventOf<To> {
  const { amountMicros, ...rest } = event;
  const mapped = { ...rest, totalMicros: as(rest.totalMicros) };
  return amountMicros === undefined ? mapped : { ...mapped, amountMicros: as(amountMicros) };
}
