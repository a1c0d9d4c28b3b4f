import type { Meanings } from '../../journal/index.ts';
import { noRows, touchesNobody } from '../../journal/index.ts';
import type { RateCounters } from './rate-counters.ts';
import { rateWrites } from './rates-rows.ts';
import type { RatesChange } from './rates-slice.ts';

interface State {
  readonly rates: RateCounters;
}

export const ratesFacts: Meanings<State, RatesChange> = {
  // Decisions that rest on a rate say so by a condition of their own.
  rates_counted: {
    apply: ({ rates }, fact, how) => rates.apply(fact, how),
    touch: touchesNobody,
    rows: noRows,
    redo: { rates: ({ rates }, fact, { seq }) => rates.redo(fact, seq) },
  },
  rates_saved: {
    apply: ({ rates }, change, how) => rates.applySaved(change, how),
    touch: touchesNobody,
    rows: rateWrites,
  },
};
