import { expect, test } from 'vitest';
import { runCosts } from './run-costs.ts';

const allowed = (op_id: string, run_id: string) => ({ op_id, payload: { run_id, cost_micros: 900 } });
const settled = (op_id: string, cost_micros: number) => ({ op_id, payload: { booked: '2026-11-17', cost_micros } });

test('sums what was settled, by run, the dearest first', () => {
  const entries = [
    settled('a', 30),
    settled('b', 50),
    settled('c', 25),
    allowed('a', 'small'),
    allowed('b', 'large'),
    allowed('c', 'small'),
    // It runs still.
    allowed('d', 'large'),
  ];
  expect(runCosts(entries)).toEqual([
    { runId: 'small', micros: 55, operations: 2 },
    { runId: 'large', micros: 50, operations: 1 },
  ]);
});

test('leaves out what belongs to no run, or whose beginning is not known', () => {
  expect(runCosts([settled('a', 30), settled('b', 50), allowed('a', ''), { op_id: null, payload: {} }])).toEqual([]);
});
