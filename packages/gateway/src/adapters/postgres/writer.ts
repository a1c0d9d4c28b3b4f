import type { Batch, ChainHead } from '@reeve/core';
import { HeadMoved } from '@reeve/core';
import type { Client, QueryResult } from 'pg';
import { changeStatements } from './change-statements.ts';
import type { ConnectionOptions } from './connection.ts';
import { connect, disconnect } from './connection.ts';
import type { SeatHolder } from './entries-statement.ts';
import { entriesStatement, headBefore } from './entries-statement.ts';
import type { Statement } from './statement.ts';

/** Told apart from a head that has moved: this gateway may write nothing any more. */
export class SeatTaken extends Error {
  constructor(seat: number) {
    super(`another gateway has taken seat ${seat}`);
    this.name = 'SeatTaken';
  }
}

/**
 * The one connection that writes batches. A batch of entries alone is one statement. Any other, and any that came after
 * another gateway's, is a transaction that locks the head of the chain first: so those of several gateways run one after
 * the other, and none of them is ever kept from its turn.
 */
export class Writer {
  readonly #options: ConnectionOptions;
  readonly #seat: SeatHolder;
  readonly #setUp: string;
  #client: Client | undefined;
  #connecting: Promise<Client> | undefined;
  /** The head, where it is locked: the next batch is written in the transaction that is open. */
  #locked: ChainHead | undefined;

  constructor(options: ConnectionOptions, seat: SeatHolder, sync: 'process' | 'power') {
    this.#options = {
      ...options,
      pipeline: true,
      // Callers wait for it, and what takes longer than this will not be well in time.
      statement_timeout: 8000,
      query_timeout: 10_000,
      // Others wait while the head is locked: for a gateway that has stopped in the middle they do not wait for long.
      idle_in_transaction_session_timeout: 2000,
    };
    this.#seat = seat;
    // Left as the server has it, unless that would not survive the end of its power.
    this.#setUp = `SELECT set_config('synchronous_commit', 'on', false)
      WHERE ${sync === 'power'} AND current_setting('synchronous_commit') = 'off'`;
  }

  async commit({ entries, changes }: Batch): Promise<void> {
    if (entries.length === 0 && changes.length === 0) return;
    const statements = changeStatements(changes, this.#seat.seat);
    if (entries.length > 0) statements.unshift(entriesStatement(entries, this.#seat));
    await this.#use(async (client) => {
      const [first] = statements;
      if (statements.length === 1 && entries.length > 0 && first !== undefined && this.#locked === undefined) {
        const { rowCount } = await client.query(first);
        if (rowCount === entries.length) return;
        this.#locked = await this.#begin(client);
      }
      const head = this.#locked ?? (await this.#begin(client));
      if (entries.length > 0 && !isSame(headBefore(entries), head)) {
        // Kept locked: the same entries, sealed onto this head, are on their way.
        this.#locked = head;
        throw new HeadMoved(head);
      }
      this.#locked = undefined;
      await commitAll(client, statements);
    });
  }

  /** Writes, as a commit does, but nothing that anyone reads. */
  async probe(): Promise<void> {
    await this.#use(async (client) => {
      const isLocked = this.#locked !== undefined;
      this.#locked = undefined;
      if (isLocked) await client.query('ROLLBACK');
      await client.query(
        `INSERT INTO meta (name, value) VALUES ('probe', now()::text)
          ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
      );
    });
  }

  async close(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    if (client !== undefined) await disconnect(client);
  }

  /** A connection on which anything went wrong is not used again: nobody knows what state it is in. */
  async #use(work: (client: Client) => Promise<void>): Promise<void> {
    const client = this.#client ?? (await this.#connected());
    try {
      await work(client);
    } catch (error) {
      if (!(error instanceof HeadMoved)) this.#drop(client);
      throw error;
    }
  }

  #connected(): Promise<Client> {
    this.#connecting ??= this.#connect().finally(() => (this.#connecting = undefined));
    return this.#connecting;
  }

  async #connect(): Promise<Client> {
    const client: Client = await connect(this.#options, () => this.#drop(client));
    try {
      await client.query(this.#setUp);
    } catch (error) {
      void disconnect(client);
      throw error;
    }
    this.#client = client;
    return client;
  }

  #drop(client: Client): void {
    if (this.#client === client) {
      this.#client = undefined;
      this.#locked = undefined;
    }
    void disconnect(client);
  }

  async #begin(client: Client): Promise<ChainHead> {
    const { seat, holder } = this.#seat;
    const results = (await client.query(
      `BEGIN; SELECT c.seq, c.hash, s.holder FROM chain c, seats s WHERE s.seat = ${seat}
        FOR UPDATE OF c FOR SHARE OF s`,
    )) as unknown as QueryResult<ChainHead & { holder: string }>[];
    const row = results[1]?.rows[0];
    if (row?.holder !== holder) throw new SeatTaken(seat);
    return { seq: row.seq, hash: row.hash };
  }
}

/** All at once, without waiting for one before sending the next; the first that fails takes all back. */
async function commitAll(client: Client, statements: readonly Statement[]): Promise<void> {
  const sent = [...statements.map((statement) => client.query(statement)), client.query('COMMIT')];
  const settled = await Promise.allSettled(sent);
  const failed = settled.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  const last = settled.at(-1);
  if (last?.status !== 'fulfilled' || last.value.command !== 'COMMIT')
    throw new Error('the transaction was taken back');
}

function isSame(one: ChainHead, other: ChainHead): boolean {
  return one.seq === other.seq && one.hash === other.hash;
}
