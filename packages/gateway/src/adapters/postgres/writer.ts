import type { Batch, ChainHead } from '@reeve/core';
import { HeadMoved } from '@reeve/core';
import type { Client, QueryResult } from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { changeStatements } from './change-statements.ts';
import type { ConnectionOptions } from './connection.ts';
import { connect, disconnect } from './connection.ts';
import type { SlotHolder } from './entries-statement.ts';
import { entriesStatement, headBefore } from './entries-statement.ts';
import { isLostConnection } from './outage.ts';
import type { Statement } from './statement.ts';

/** Told apart from a head that has moved: this gateway may write nothing any more. */
export class SlotTaken extends Error {
  constructor(slot: number) {
    super(`another gateway has taken seat ${slot}`);
    this.name = 'SlotTaken';
  }
}

/** What memory holds is not what the log says: somebody was told that this commit failed, and it did not. */
export class CommitKept extends Error {
  constructor({ seq }: ChainHead) {
    super(
      `the database has kept a commit that was taken for lost, up to entry ${seq}; start the gateway again, so that it goes on from there`,
    );
    this.name = 'CommitKept';
  }
}

/** For how long it is tried to find out what became of a commit whose answer was lost. */
const findOutMs = 10_000;
const retryEveryMs = 100;

/**
 * The one connection that writes batches. A batch of entries alone is one statement. Any other, and any that came after
 * another gateway's, is a transaction that locks the head of the chain first: so those of several gateways run one after
 * the other, and none of them is ever kept from its turn.
 */
export class Writer {
  readonly #options: ConnectionOptions;
  readonly #slot: SlotHolder;
  readonly #setUp: string;
  #client: Client | undefined;
  #connecting: Promise<Client> | undefined;
  /** The head, where it is locked: the next batch is written in the transaction that is open. */
  #locked: ChainHead | undefined;
  /** A commit is on its way, and only its answer tells whether it arrived. */
  #isUnderWay = false;
  /** The last entry of a commit of which that was not found out in time. */
  #unsure: ChainHead | undefined;
  #isClosed = false;
  readonly #onKept: (error: CommitKept) => void;

  constructor(
    options: ConnectionOptions,
    slot: SlotHolder,
    sync: 'process' | 'power',
    onKept: (error: CommitKept) => void,
  ) {
    this.#onKept = onKept;
    this.#options = {
      ...options,
      pipeline: true,
      // Callers wait for it, and what takes longer than this will not be well in time.
      statement_timeout: 8000,
      query_timeout: 10_000,
      // Others wait while the head is locked: for a gateway that has stopped in the middle they do not wait for long.
      idle_in_transaction_session_timeout: 2000,
    };
    this.#slot = slot;
    // Left as the server has it, unless that would not survive the end of its power.
    this.#setUp = `SELECT set_config('synchronous_commit', 'on', false)
      WHERE ${sync === 'power'} AND current_setting('synchronous_commit') = 'off'`;
  }

  async commit({ entries, changes }: Batch): Promise<void> {
    if (entries.length === 0 && changes.length === 0) return;
    const statements = changeStatements(changes, this.#slot.number);
    if (entries.length > 0) statements.unshift(entriesStatement(entries, this.#slot));
    this.#isUnderWay = false;
    try {
      await this.#use(async (client) => {
        const [first] = statements;
        if (statements.length === 1 && entries.length > 0 && first !== undefined && this.#locked === undefined) {
          const { rowCount } = await this.#underWay(() => client.query(first));
          if (rowCount === entries.length) return;
          this.#locked = await this.#begin(client);
        }
        await this.#writeOnto(client, this.#locked ?? (await this.#begin(client)), entries, statements);
      });
    } catch (error) {
      if (!this.#isUnderWay || !isLoss(error)) throw error;
      await this.#findOut(entries, statements);
    }
  }

  /** Writes a batch in the transaction that is open, which has locked the head. */
  async #writeOnto(
    client: Client,
    head: ChainHead,
    entries: Batch['entries'],
    statements: readonly Statement[],
  ): Promise<void> {
    if (entries.length > 0 && !isSame(headBefore(entries), head)) {
      // Kept locked: the same entries, sealed onto this head, are on their way.
      this.#locked = head;
      throw new HeadMoved(head);
    }
    this.#locked = undefined;
    await this.#underWay(() => commitAll(client, statements));
  }

  async #underWay<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#isUnderWay = true;
    const result = await work();
    this.#isUnderWay = false;
    return result;
  }

  /**
   * The connection was lost while a commit was under way. Whether it arrived shows in the log, once the head is locked: a
   * transaction of the old connection has ended then. Where it did not, it is written now, after which it cannot arrive any more.
   */
  async #findOut(entries: Batch['entries'], statements: readonly Statement[]): Promise<void> {
    const until = performance.now() + findOutMs;
    for (;;) {
      try {
        await this.#use(async (client) => {
          const head = await this.#begin(client);
          const isKept = await isInLog(client, entries.at(-1));
          this.#isUnderWay = false;
          if (isKept) await client.query('ROLLBACK');
          else await this.#writeOnto(client, head, entries, statements);
        });
        return;
      } catch (error) {
        if (!isLoss(error)) throw error;
        if (this.#isClosed || performance.now() >= until) {
          this.#unsure = entries.at(-1);
          throw error;
        }
        await sleep(retryEveryMs);
      }
    }
  }

  /** Looks for a commit that was given up: its callers were told that it failed, and memory has taken it back. */
  async #requireLost(client: Client): Promise<void> {
    const unsure = this.#unsure;
    if (unsure === undefined) return;
    await this.#begin(client);
    const isKept = await isInLog(client, unsure);
    await client.query('ROLLBACK');
    if (isKept) {
      const error = new CommitKept(unsure);
      this.#onKept(error);
      throw error;
    }
    this.#unsure = undefined;
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
    this.#isClosed = true;
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
      await this.#requireLost(client);
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
    const { number, holder } = this.#slot;
    const results = (await client.query(
      `BEGIN; SELECT c.seq, c.hash, s.holder FROM chain c, seats s WHERE s.seat = ${number}
        FOR UPDATE OF c FOR SHARE OF s`,
    )) as unknown as QueryResult<ChainHead & { holder: string }>[];
    const row = results[1]?.rows[0];
    if (row?.holder !== holder) throw new SlotTaken(number);
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

/** Whether the connection failed, so that nobody has said what became of what was sent on it. */
function isLoss(error: unknown): boolean {
  const isAnswer = error instanceof HeadMoved || error instanceof SlotTaken || error instanceof CommitKept;
  return !isAnswer && isLostConnection(error);
}

async function isInLog(client: Client, entry: ChainHead | undefined): Promise<boolean> {
  if (entry === undefined) return false;
  const { rowCount } = await client.query('SELECT 1 FROM audit WHERE seq = $1 AND hash = $2', [entry.seq, entry.hash]);
  return rowCount === 1;
}

function isSame(one: ChainHead, other: ChainHead): boolean {
  return one.seq === other.seq && one.hash === other.hash;
}
