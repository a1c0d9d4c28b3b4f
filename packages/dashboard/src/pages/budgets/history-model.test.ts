import { describe, expect, test } from 'vitest';
import type { HistoryWindow } from './history-model.ts';
import { amountsOf, describeSlot, slotsOf } from './history-model.ts';

function window(
  starts_at: string,
  ends_at: string,
  spent_usd = '1.00',
  limit_usd: string | null = null,
): HistoryWindow {
  const full = (time: string) => new Date(time).toISOString();
  return { starts_at: full(starts_at), ends_at: full(ends_at), spent_usd, limit_usd, closed: true };
}

const known = (windows: readonly HistoryWindow[], period: 'day' | 'month') =>
  slotsOf(windows, period).map((slot) => slot.window !== undefined);

describe('the slots of a history', () => {
  test('are its windows where none is missing, also over a change of the clocks', () => {
    const days = [
      window('2026-03-27T23:00Z', '2026-03-28T23:00Z'),
      window('2026-03-28T23:00Z', '2026-03-29T22:00Z'),
      window('2026-03-29T22:00Z', '2026-03-30T22:00Z'),
    ];
    expect(known(days, 'day')).toEqual([true, true, true]);
    expect(slotsOf([], 'day')).toEqual([]);
  });

  test('have one for each day that is not on record', () => {
    const days = [window('2026-03-26T23:00Z', '2026-03-27T23:00Z'), window('2026-03-30T22:00Z', '2026-03-31T22:00Z')];
    expect(known(days, 'day')).toEqual([true, false, false, false, true]);
    const at = slotsOf(days, 'day').map((slot) => slot.at);
    expect(at.toSorted((a, b) => a - b)).toEqual(at);
  });

  test('have one for each month that is not on record, in any zone', () => {
    const berlin = [window('2025-10-31T23:00Z', '2025-11-30T23:00Z'), window('2026-03-31T22:00Z', '2026-04-30T22:00Z')];
    expect(known(berlin, 'month')).toEqual([true, false, false, false, false, true]);
    const denver = [window('2026-01-01T07:00Z', '2026-02-01T07:00Z'), window('2026-03-01T07:00Z', '2026-04-01T06:00Z')];
    expect(known(denver, 'month')).toEqual([true, false, true]);
  });
});

test('what is not known is a gap and not nothing', () => {
  const [slot] = slotsOf([window('2026-03-01', '2026-03-02', '0.00', '2.50')], 'day');
  if (slot === undefined) throw new Error('no slot');
  expect(amountsOf(slot)).toEqual({ spent: 0, limit: 2_500_000 });
  expect(describeSlot(slot)).toBe('$0.00 of $2.50');
  expect(amountsOf({ at: 0, window: undefined })).toEqual({ spent: undefined, limit: undefined });
  expect(describeSlot({ at: 0, window: undefined })).toBe('not known');
  expect(describeSlot({ at: 0, window: window('2026-03-01', '2026-03-02') })).toBe('$1.00 spent, no cap');
  const running = { ...window('2026-03-01', '2026-03-02', '1.00', '2.00'), closed: false };
  expect(describeSlot({ at: 0, window: running })).toBe('$1.00 of $2.00 so far');
});
