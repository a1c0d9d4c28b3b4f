import { expect, test } from 'vitest';
import { spanOf } from './days.ts';

const now = new Date(2026, 2, 1, 13, 30);

test.each([
  ['today', new Date(2026, 2, 1), undefined],
  ['yesterday', new Date(2026, 1, 28), new Date(2026, 1, 28, 23, 59, 59, 999)],
  ['week', new Date(2026, 1, 23), undefined],
] as const)('%s begins at midnight', (days, from, to) => {
  expect(spanOf(days, now)).toEqual({ from: from.toISOString(), to: to?.toISOString() });
});
