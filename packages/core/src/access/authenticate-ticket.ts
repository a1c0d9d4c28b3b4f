import { ReeveError } from '../kernel/errors.ts';
import type { Authenticator } from './authenticator.ts';
import type { Principal } from './principal.ts';
import type { TicketBooth } from './tickets.ts';

/**
 * The caller that a ticket was issued to, where its credential is still good. The ticket is not used up by this: that
 * happens when what it is for has been found to be in order.
 */
export async function authenticateTicket(
  tickets: TicketBooth,
  authenticator: Authenticator,
  ticket: string,
): Promise<Principal> {
  const holder = tickets.holderOf(ticket);
  if (holder === undefined || !(await authenticator.isStillValid(holder))) throw refused();
  return holder;
}

/** Uses a ticket up. Of two who come with the same one, the second is refused. */
export function redeemTicket(tickets: TicketBooth, ticket: string): void {
  if (tickets.redeem(ticket) === undefined) throw refused();
}

function refused(): ReeveError {
  return new ReeveError('unauthenticated', 'the ticket is not valid: it is wrong, used or older than 30 seconds');
}
