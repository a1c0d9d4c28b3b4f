import type { Table, Write } from '../../journal/index.ts';
import { integer, marksTable, numberIn, put, remove, text, textIn } from '../../journal/index.ts';
import type { SavedCounts } from './rate-counter.ts';
import type { RatesSaved, SavedRate } from './rates-slice.ts';

/** The name of the mark up to which all counters are true. */
export const ratesFrom = 'rates_from';

export const ratesTable: Table<SavedRate, 'name'> = {
  name: 'rates',
  key: { name: text(({ name }) => name) },
  columns: { seq: integer(({ seq }) => seq), record: text(({ counts }) => JSON.stringify(counts)) },
  itemOf: (row) => ({
    name: textIn(row, 'name'),
    counts: JSON.parse(textIn(row, 'record')) as SavedCounts,
    seq: numberIn(row, 'seq'),
  }),
};

export function rateWrites({ saved, asOf }: RatesSaved): readonly Write[] {
  return [
    ...saved.map((rate) => (rate.counts === null ? remove(ratesTable, { name: rate.name }) : put(ratesTable, rate))),
    ...(asOf === null ? [] : [put(marksTable, { name: ratesFrom, value: asOf })]),
  ];
}
