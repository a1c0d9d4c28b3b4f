import type { Authenticator } from './authenticator.ts';
import type { Principal } from './principal.ts';
import type { Clock, EpochMs, Randomness } from '../kernel/index.ts';
import { ReeveError } from '../kernel/index.ts';

export const ticketTtlMs = 30_000;
const mostTickets = 100_000;

/** Single-use tickets that open an event stream. They keep tokens out of URLs. */
export interface Tickets {
  issue(principal: Principal): IssuedTicket | Promise<IssuedTicket>;
  /** The caller that the ticket was issued to, while the ticket is valid. */
  holderOf(ticket: string): Principal | undefined | Promise<Principal | undefined>;
  /** The same, and uses the ticket up. */
  redeem(ticket: string): Principal | undefined | Promise<Principal | undefined>;
}

export interface IssuedTicket {
  readonly ticket: string;
  readonly expiresAt: EpochMs;
}

/** The tickets of one gateway. */
export class TicketRegistry implements Tickets {
  readonly #clock: Clock;
  readonly #randomness: Randomness;
  readonly #tickets = new Map<string, { readonly principal: Principal; readonly endsAt: number }>();

  constructor(clock: Clock, randomness: Randomness) {
    this.#clock = clock;
    this.#randomness = randomness;
  }

  issue(principal: Principal): IssuedTicket {
    this.#forgetOld();
    const ticket = newTicket(this.#randomness);
    this.#tickets.set(ticket, { principal, endsAt: this.#clock.elapsed() + ticketTtlMs });
    return { ticket, expiresAt: this.#clock.now() + ticketTtlMs };
  }

  /** The caller that the ticket was issued to, while the ticket is valid. */
  holderOf(ticket: string): Principal | undefined {
    const issued = this.#tickets.get(ticket);
    return issued !== undefined && this.#clock.elapsed() < issued.endsAt ? issued.principal : undefined;
  }

  /** The same, and uses the ticket up. */
  redeem(ticket: string): Principal | undefined {
    const holder = this.holderOf(ticket);
    this.#tickets.delete(ticket);
    return holder;
  }

  /** All tickets live equally long, so the oldest come first. */
  #forgetOld(): void {
    const now = this.#clock.elapsed();
    for (const [ticket, { endsAt }] of this.#tickets) {
      if (endsAt > now && this.#tickets.size < mostTickets) return;
      this.#tickets.delete(ticket);
    }
  }
}

/**
 * The caller that a ticket was issued to, if its credential is still valid. This does not use the ticket up: call
 * `redeemTicket` once the request itself has proved valid.
 */
export async function authenticateTicket(
  tickets: Tickets,
  authenticator: Authenticator,
  ticket: string,
): Promise<Principal> {
  const holder = await tickets.holderOf(ticket);
  const renewed = holder && (await authenticator.renew(holder));
  if (renewed === undefined) throw refused();
  return renewed;
}

/** Uses a ticket up. If two callers bring the same ticket, the second is refused. */
export async function redeemTicket(tickets: Tickets, ticket: string): Promise<void> {
  if ((await tickets.redeem(ticket)) === undefined) throw refused();
}

export function newTicket(randomness: Randomness): string {
  return `rvt_${randomness.base64url(32)}`;
}

function refused(): ReeveError {
  return new ReeveError('unauthenticated', 'the ticket is not valid: it is wrong, used or older than 30 seconds');
}
