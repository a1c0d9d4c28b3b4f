import type { IssuedTicket, Principal, Tickets } from '@reeve/core';
import { newTicket, textIn, ticketTtlMs } from '@reeve/core';
import { randomness, sha256 } from '../crypto/node-crypto.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';

/** The tickets of several gateways: one issues a ticket, and another one may be shown it. The database has the time. */
export class PostgresTickets implements Tickets {
  readonly #sql: Pick<SqlDatabase, 'all' | 'run'>;

  constructor(sql: Pick<SqlDatabase, 'all' | 'run'>) {
    this.#sql = sql;
  }

  async issue(principal: Principal): Promise<IssuedTicket> {
    const ticket = newTicket(randomness);
    await this.#sql.run('DELETE FROM tickets WHERE ends_at < clock_timestamp()');
    await this.#sql.run(
      `INSERT INTO tickets (hash, principal, ends_at) VALUES (?, ?, clock_timestamp() + ? * interval '1 millisecond')`,
      sha256(ticket),
      JSON.stringify(principal),
      ticketTtlMs,
    );
    return { ticket, expiresAt: Date.now() + ticketTtlMs };
  }

  holderOf(ticket: string): Promise<Principal | undefined> {
    return this.#find('SELECT principal FROM tickets', ticket);
  }

  redeem(ticket: string): Promise<Principal | undefined> {
    return this.#find('DELETE FROM tickets', ticket, 'RETURNING principal');
  }

  async #find(sql: string, ticket: string, returning = ''): Promise<Principal | undefined> {
    const rows = await this.#sql.all(
      `${sql} WHERE hash = ? AND ends_at > clock_timestamp() ${returning}`,
      sha256(ticket),
    );
    return rows.map((row) => JSON.parse(textIn(row, 'principal')) as Principal)[0];
  }
}
