import { expect, test } from 'vitest';
import { fixedRandomness } from '../testkit/fixed-randomness.ts';
import { ManualClock } from '../testkit/manual-clock.ts';
import { operator } from '../testkit/requests.ts';
import { TicketRegistry } from './tickets.ts';

test('a ticket is good once, for thirty seconds, whatever the wall clock says', () => {
  const clock = new ManualClock();
  const tickets = new TicketRegistry(clock, fixedRandomness());
  const { ticket, expiresAt } = tickets.issue(operator);
  expect(expiresAt).toBe(clock.now() + 30_000);
  clock.setWallClock(86_400_000);
  clock.advance(29_999);
  expect(tickets.redeem(ticket)).toBe(operator);
  expect(tickets.redeem(ticket)).toBeUndefined();
  const late = tickets.issue(operator);
  clock.advance(30_000);
  expect(tickets.redeem(late.ticket)).toBeUndefined();
  expect(tickets.redeem('rvt_made-up')).toBeUndefined();
});
