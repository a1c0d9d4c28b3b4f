import type { Meanings } from '../../journal/index.ts';
import { noRows, touchesNobody } from '../../journal/index.ts';
import type { RateCounters } from './rate-counters.ts';
import { rateWrites } from './rates-rows.ts';
import type { RatesChange } from './rates-slice.ts';
import { countersOf } from './watched-rates.ts';

interface State {
  readonly rates: RateCounters;
}

export const ratesFacts: Meanings<State, RatesChange> = {
  rates_counted: {
    apply: ({ rates }, fact, how) => rates.apply(fact, how),
    touch: touchesNobody,
    alters: ({ agent, counted, told = [] }) => countersOf(agent, [...counted, ...told.map(({ key }) => key)]),
    rows: noRows,
    redo: { rates: ({ rates }, fact, { seq }) => rates.redo(fact, seq) },
  },
  rates_saved: {
    apply: ({ rates }, change, how) => rates.applySaved(change, how),
    touch: touchesNobody,
    // A gateway that took the lead may have saved first. Its mark would speak for these rows, which are older.
    claims: () => ['save of rates'],
    rows: rateWrites,
  },
};
