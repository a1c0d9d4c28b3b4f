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

/** Differs from `HeadMoved`: this gateway may write nothing any more. */
export class SlotTaken extends Error {
  constructor(slot: number) {
    super(`another gateway has taken seat ${slot}`);
    this.name = 'SlotTaken';
  }
}

/** Memory and log disagree: a caller was told that this commit failed, but the database kept it. */
export class CommitKept extends Error {
  constructor({ seq }: ChainHead) {
    super(
      `the database has kept a commit that was taken for lost, up to entry ${seq}; start the gateway again, so that it goes on from there`,
    );
    this.name = 'CommitKept';
  }
}

/** How long to try to find out what became of a commit whose answer was lost. */
const findOutMs = 10_000;
const retryEveryMs = 100;

/**
 * The one connection that writes batches. A batch of entries alone is one statement. Any other batch, and any that lost
 * a race with another gateway, is a transaction that first locks the head of the chain. So the transactions of several
 * gateways run one after the other, and none starves.
 */
export class Writer {
  readonly #options: ConnectionOptions;
  readonly #slot: SlotHolder;
  readonly #setUp: string;
  #client: Client | undefined;
  #connecting: Promise<Client> | undefined;
  /** The head while it is locked: the next batch is written in the open transaction. */
  #locked: ChainHead | undefined;
  /** A commit has been sent, and only its answer tells whether it arrived. */
  #isUnderWay = false;
  /** The last entry of a commit whose outcome was not found out in time. */
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
      // Callers wait for the commit, and a slower one would come too late for them.
      statement_timeout: 8000,
      query_timeout: 10_000,
      // Others wait while the head is locked, but not for long if this gateway stalls in the middle.
      idle_in_transaction_session_timeout: 2000,
    };
    this.#slot = slot;
    // Keep the server's setting, unless a commit would not survive a power failure.
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

  /** Writes a batch in the open transaction, which holds the lock of the head. */
  async #writeOnto(
    client: Client,
    head: ChainHead,
    entries: Batch['entries'],
    statements: readonly Statement[],
  ): Promise<void> {
    if (entries.length > 0 && !isSame(headBefore(entries), head)) {
      // Keep the lock: the journal will seal the same entries onto this head and commit them again.
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
   * Runs after the connection was lost during a commit. Locking the head waits for the transaction of the old
   * connection to end; then the log shows whether the commit arrived. If it did not, it is written now and cannot
   * arrive later.
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

  /** Looks for a commit that was given up: its callers were told that it failed, and memory has rolled it back. */
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

  /** Writes as a commit does, but nothing that anyone reads. */
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

  /** A connection that failed is never reused, because its state is unknown. */
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

/** Sends all statements without waiting in between; the first failure rolls all back. */
async function commitAll(client: Client, statements: readonly Statement[]): Promise<void> {
  const sent = [...statements.map((statement) => client.query(statement)), client.query('COMMIT')];
  const settled = await Promise.allSettled(sent);
  const failed = settled.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  const last = settled.at(-1);
  if (last?.status !== 'fulfilled' || last.value.command !== 'COMMIT')
    throw new Error('the transaction was taken back');
}

/** Whether the connection failed, so that the outcome of what was sent is unknown. */
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
