import type { Table, Write } from '../journal/index.ts';
import { prune, put, remove, text, textIn } from '../journal/index.ts';
import { totalJson, totalOfJson } from '../kernel/index.ts';
import type { BalancesMark, ClosedPeriod, SavedBalance } from './balance.ts';
import type { BudgetsChange, BudgetsSnapshot } from './budget-slice.ts';
import type { Period } from './period.ts';
import { periods } from './period.ts';
import { tierKey } from './tier.ts';
import type { BalanceOf, ClosedOf } from './totals.ts';
import { mapBalance, mapClosed } from './totals.ts';

/** The name of the row that says up to which entry the others are true. */
const markName = '';

export const balancesTable: Table<SavedBalance | BalancesMark, 'name'> = {
  name: 'books',
  key: { name: text((row) => (isMark(row) ? markName : tierKey(row.of))) },
  columns: { record: text((row) => JSON.stringify(isMark(row) ? row : mapBalance(row, totalJson))) },
  itemOf: (row) => {
    const record: unknown = JSON.parse(textIn(row, 'record'));
    if (textIn(row, 'name') === markName) return record as BalancesMark;
    // Rows of older versions name no entry of their own. The mark applies to them.
    return mapBalance({ seq: 0, ...(record as Omit<BalanceOf<number | string>, 'seq'>) }, totalOfJson);
  },
};

export const closedPeriodsTable: Table<ClosedPeriod, 'name' | 'period' | 'id'> = {
  name: 'closed_books',
  key: { name: text(({ of }) => tierKey(of)), period: text(({ period }) => period), id: text(({ id }) => id) },
  columns: { record: text((closed) => JSON.stringify(mapClosed(closed, totalJson))) },
  itemOf: (row) => mapClosed(JSON.parse(textIn(row, 'record')) as ClosedOf<number | string>, totalOfJson),
};

export function balanceWrites({ saved, over, closed, closedBefore, asOf }: BudgetsChange): readonly Write[] {
  return [
    ...over.map((of) => remove(balancesTable, { name: tierKey(of) })),
    ...saved.map((balance) => put(balancesTable, balance)),
    ...(asOf === null ? [] : [put(balancesTable, asOf)]),
    ...closed.map((balance) => put(closedPeriodsTable, balance)),
    ...(closedBefore === null ? [] : periods.map((period) => closedUntil(period, closedBefore[period]))),
  ];
}

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
