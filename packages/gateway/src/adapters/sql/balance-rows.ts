import type { BalancesMark, Change, ClosedPeriod, SavedBalance } from '@reeve/core';
import { tierKey, totalJson, totalOfJson } from '@reeve/core';
import type { Row } from './sqlite-rows.ts';
import { text } from './sqlite-rows.ts';

type BalancesSaved = Extract<Change, { kind: 'balances_saved' }>;

/** The name of the row that says up to which entry the others are true. */
const markName = '';

/** The rows to write, as name and record. */
export function balanceValues({ saved, asOf }: BalancesSaved): [string, string][] {
  const rows = saved.map((balance): [string, string] => [tierKey(balance.of), recordText(balance)]);
  return [...rows, [markName, JSON.stringify(asOf)]];
}

/** The names of the rows to remove. */
export function balancesOver({ over }: BalancesSaved): string[] {
  return over.map(tierKey);
}

/** The rows of days and months that are over. */
export function closedValues({ closed }: BalancesSaved): [string, string, string, string][] {
  return closed.map((balance) => [tierKey(balance.of), balance.period, balance.id, recordText(balance)]);
}

/** Through which of them all are given up. */
export function closedGivenUp({ closedBefore }: BalancesSaved): ['day' | 'month', string][] {
  return closedBefore === null
    ? []
    : [
        ['day', closedBefore.day],
        ['month', closedBefore.month],
      ];
}

export function closedOf(row: Row): ClosedPeriod {
  return JSON.parse(text(row, 'record'), exactly) as ClosedPeriod;
}

/** Sums that a number does not hold exactly stand as texts of digits. */
function recordText(balance: SavedBalance | ClosedPeriod): string {
  return JSON.stringify(balance, (_, value: unknown) => (typeof value === 'bigint' ? totalJson(value) : value));
}

function exactly(name: string, value: unknown): unknown {
  const isSum = (typeof value === 'string' && /^-?\d+$/.test(value)) || typeof value === 'number';
  return isSum && sums.has(name) ? totalOfJson(value) : value;
}

/** The members whose values are sums: of a day and a month that go on, and of one that is over. */
const sums: ReadonlySet<string> = new Set(['day', 'month', 'spent', 'spentMicros']);

export const closedSql = {
  newest: 'SELECT record FROM closed_books WHERE name = ? AND period = ? ORDER BY id DESC LIMIT ?',
  newestOfSeat: 'SELECT record FROM closed_books WHERE seat = ? AND name = ? AND period = ? ORDER BY id DESC LIMIT ?',
  giveUp: 'DELETE FROM closed_books WHERE period = ? AND id < ?',
} as const;

export function balancesOf(rows: readonly Row[]): { balances: SavedBalance[]; balancesMark: BalancesMark | null } {
  const mark = rows.find((row) => text(row, 'name') === markName);
  return {
    // Rows from before each said as of which entry it is true are all as the mark says.
    balances: rows
      .filter((row) => row !== mark)
      .map((row) => ({ seq: 0, ...(JSON.parse(text(row, 'record'), exactly) as Omit<SavedBalance, 'seq'>) })),
    balancesMark: mark === undefined ? null : (JSON.parse(text(mark, 'record')) as BalancesMark),
  };
}
