import type { Row, RowsOf, Table, Write } from '../journal/index.ts';
import { prune, put, remove, text, textIn } from '../journal/index.ts';
import { totalJson, totalOfJson } from '../kernel/index.ts';
import type { ClosedPeriod, SavedBalance } from './balance.ts';
import type { BudgetsChange, BudgetsSnapshot } from './budget-slice.ts';
import type { Period } from './period.ts';
import { periods } from './period.ts';
import type { BalancesMark } from './recover-balances.ts';
import { tierKey } from './tier.ts';

/** The name of the row that says up to which entry the others are true. */
const markName = '';

export const balancesTable: Table<SavedBalance | BalancesMark, 'name'> = {
  name: 'books',
  key: { name: text((row) => (isMark(row) ? markName : tierKey(row.of))) },
  columns: { record: text(recordOf) },
  itemOf: (row) => {
    if (textIn(row, 'name') === markName) return JSON.parse(textIn(row, 'record')) as BalancesMark;
    // Rows of older versions name no entry of their own. The mark applies to them.
    return { seq: 0, ...(exactRecord(row) as Omit<SavedBalance, 'seq'>) };
  },
};

export const closedPeriodsTable: Table<ClosedPeriod, 'name' | 'period' | 'id'> = {
  name: 'closed_books',
  key: { name: text(({ of }) => tierKey(of)), period: text(({ period }) => period), id: text(({ id }) => id) },
  columns: { record: text(recordOf) },
  itemOf: (row) => exactRecord(row) as ClosedPeriod,
};

export const budgetRows: RowsOf<BudgetsChange> = {
  balances_saved: ({ saved, over, closed, closedBefore, asOf }) => [
    ...over.map((of) => remove(balancesTable, { name: tierKey(of) })),
    ...saved.map((balance) => put(balancesTable, balance)),
    ...(asOf === null ? [] : [put(balancesTable, asOf)]),
    ...closed.map((balance) => put(closedPeriodsTable, balance)),
    ...(closedBefore === null ? [] : periods.map((period) => closedUntil(period, closedBefore[period]))),
  ],
};

function closedUntil(period: Period, id: string): Write {
  return prune(closedPeriodsTable, [
    { column: 'period', is: '=', value: period },
    { column: 'id', is: '<', value: id },
  ]);
}

export function balancesOf(rows: readonly (SavedBalance | BalancesMark)[]): BudgetsSnapshot {
  return { balances: rows.filter(isBalance), balancesMark: rows.find(isMark) ?? null };
}

function isBalance(row: SavedBalance | BalancesMark): row is SavedBalance {
  return !isMark(row);
}

function isMark(row: SavedBalance | BalancesMark): row is BalancesMark {
  return 'timeZone' in row;
}

/** Writes sums that a number cannot hold exactly as strings of digits. Nearly no row has one. */
function recordOf(row: SavedBalance | BalancesMark | ClosedPeriod): string {
  try {
    return JSON.stringify(row);
  } catch {
    return JSON.stringify(row, (_, value: unknown) => (typeof value === 'bigint' ? totalJson(value) : value));
  }
}

function exactRecord(row: Row): unknown {
  return JSON.parse(textIn(row, 'record'), exactly);
}

function exactly(name: string, value: unknown): unknown {
  const isSum = (typeof value === 'string' && /^-?\d+$/.test(value)) || typeof value === 'number';
  return isSum && sums.has(name) ? totalOfJson(value) : value;
}

/** The members whose values are sums, in open and in closed periods. */
const sums: ReadonlySet<string> = new Set(['day', 'month', 'spent', 'spentMicros']);
