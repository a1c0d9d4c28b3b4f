import { expect, test } from 'vitest';
import { fixedRandomness } from '../testkit/fixed-randomness.ts';
import { ManualClock } from '../testkit/manual-clock.ts';
import { operator } from '../testkit/requests.ts';
import { TicketBooth } from './tickets.ts';

test('a ticket is good once, for thirty seconds, whatever the wall clock says', () => {
  const clock = new ManualClock();
  const booth = new TicketBooth(clock, fixedRandomness());
  const { ticket, expiresAt } = booth.issue(operator);
  expect(expiresAt).toBe(clock.now() + 30_000);
  clock.setWallClock(86_400_000);
  clock.advance(29_999);
  expect(booth.redeem(ticket)).toBe(operator);
  expect(booth.redeem(ticket)).toBeUndefined();
  const late = booth.issue(operator);
  clock.advance(30_000);
  expect(booth.redeem(late.ticket)).toBeUndefined();
  expect(booth.redeem('rvt_made-up')).toBeUndefined();
});
