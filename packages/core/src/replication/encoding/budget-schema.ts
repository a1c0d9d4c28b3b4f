import type { BudgetEvent, BudgetsChange, ClosedPeriod, RatesChange, SavedBalance } from '../../budget/index.ts';
import type { SchemaOf } from './common.ts';
import { byPeriod, period, tierOf } from './common.ts';
import { record } from './record.ts';
import { agent, dictionary, integer, list, nullable, optional, sum, text, time, word } from './values.ts';

const balance = record<SavedBalance>({
  of: tierOf,
  spent: byPeriod(sum),
  window: byPeriod(text),
  noticed: byPeriod(integer),
  seq: integer,
  earlier: optional(byPeriod(list(record({ id: text, spent: sum, noticed: integer })))),
});

const closedPeriod = record<ClosedPeriod>({
  of: tierOf,
  period,
  id: text,
  startsAt: time,
  endsAt: time,
  spentMicros: sum,
  limitMicros: nullable(integer),
});

export const budgetChanges: SchemaOf<BudgetsChange | RatesChange> = {
  balances_saved: {
    saved: list(balance),
    over: list(tierOf),
    closed: list(closedPeriod),
    closedBefore: nullable(byPeriod(text)),
    asOf: nullable(record({ seq: integer, timeZone: text })),
  },
  rates_counted: {
    agent,
    at: time,
    counted: list(text),
    told: optional(list(record({ key: text, percent: integer }))),
  },
  rates_saved: {
    saved: list(
      record({
        name: text,
        counts: nullable(record({ steps: list(integer), told: dictionary(time) })),
        seq: integer,
      }),
    ),
    asOf: nullable(integer),
  },
};

export const budgetEvents: SchemaOf<BudgetEvent> = {
  budget: {
    at: time,
    of: tierOf,
    change: word(['approached', 'exceeded', 'corrected']),
    period,
    day: optional(text),
    amountMicros: optional(sum),
    percent: nullable(integer),
    limitMicros: nullable(integer),
    totalMicros: sum,
  },
};
