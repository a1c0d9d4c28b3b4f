import type { Batch, Commit } from '@reeve/core';
import { commitText, countIds, HeadMoved, namedText } from '@reeve/core';
import type { Client, QueryResult } from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { changeStatements } from './change-statements.ts';
import { commitAll } from './commit-all.ts';
import type { CommitFeed, KeptCommit, SentCommit } from './commit-feed.ts';
import type { ConnectionOptions } from './connection.ts';
import { connect, disconnect } from './connection.ts';
import { entriesStatement, requireMoved } from './entries-statement.ts';
import type { LogHead, Standing } from './standing.ts';
import { commitsQuestion, headQuestion } from './standing.ts';
import type { Statement } from './statement.ts';
import { CommitKept, isLoss, NotAlone } from './writer-errors.ts';

/** How long to try to find out what became of a commit whose answer was lost. */
const findOutMs = 10_000;
const retryEveryMs = 100;
/** After another gateway was first, it will be again. */
const contendedFor = 16;

/** A commit that was sent. */
interface TriedCommit {
  readonly version: number;
  readonly name: string;
}

export interface WriterOptions {
  readonly connection: ConnectionOptions;
  readonly feed: CommitFeed;
  /** Names this run of this gateway, and no other. */
  readonly gateway: string;
  /** Other gateways follow what this one writes. */
  readonly isShared: boolean;
  /** Whether all of them read facts in their compact form. Those of 0.1.0 do not. */
  readonly readCompactly: () => boolean;
  readonly sync: 'process' | 'power';
  /** Called if the gateway must not go on. */
  readonly onFatal: (error: Error) => void;
}

/**
 * The one connection that writes batches. Every commit has the number after the last one, and none is written by a
 * gateway that does not know the commits before it. That alone keeps a gateway that was away from writing what is no
 * longer true. A batch of entries is one statement. Any other batch, and any that lost a race with another gateway, is
 * a transaction that first locks the head of the chain. So the transactions of several gateways run one after the
 * other, and none starves.
 */
export class Writer {
  readonly #options: ConnectionOptions;
  readonly #of: WriterOptions;
  readonly #setUp: string;
  #client: Client | undefined;
  #connecting: Promise<Client> | undefined;
  /** For so many more commits, others are expected to be first: lock the head at once instead of trying. */
  #contended = 0;
  /**
   * The connection that has locked the head: the next batch is written in its open transaction. The lock is gone with
   * the connection, also if that ends before the answer to the lock was read.
   */
  #holder: Client | undefined;
  /** A commit has been sent, and only its answer tells whether it arrived. */
  #isUnderWay = false;
  /** A commit whose outcome was not found out in time. */
  #unsure: TriedCommit | undefined;
  #tries = 0;
  #isClosed = false;

  constructor(options: WriterOptions) {
    const { connection, sync } = options;
    this.#of = options;
    this.#options = {
      ...connection,
      pipeline: true,
      // Callers wait for the commit, and a slower one would come too late for them.
      statement_timeout: 8000,
      query_timeout: 10_000,
      // Others wait while the head is locked, but not for long if this gateway stalls in the middle.
      idle_in_transaction_session_timeout: 2000,
    };
    // Keep the server's setting, unless a commit would not survive a power failure.
    this.#setUp = `SELECT set_config('synchronous_commit', 'on', false)
      WHERE ${sync === 'power'} AND current_setting('synchronous_commit') = 'off'`;
  }

  /**
   * Locks the head for the next batch, if others are likely to be first, and returns their commits. So that batch is
   * made once. Undefined if there is no reason to.
   */
  lock(): Promise<readonly Commit[]> | undefined {
    const isLocked = this.#holder !== undefined && this.#holder === this.#client;
    return this.#of.isShared && this.#contended > 0 && !isLocked
      ? this.#use((client) => this.#lock(client))
      : undefined;
  }

  /** Writes a batch, and returns what others follow it by, if there are any. */
  async commit(batch: Batch): Promise<SentCommit | null> {
    const { entries, changes, told: happened } = batch;
    const events = happened === undefined ? 0 : countIds(happened.events);
    if (entries.length + changes.length + events === 0) {
      await this.#letGo();
      return null;
    }
    const { feed, gateway, isShared } = this.#of;
    const facts = (this.#of.readCompactly() ? commitText : namedText)(happened ?? nothing);
    const after = feed.standing;
    // Each try has its own name, so that none is taken for another.
    const name = `${gateway}/${++this.#tries}`;
    const note = { after, gateway: name, events, facts };
    const first = entriesStatement(entries, note);
    const rows = changeStatements(changes);
    const statements = [first, requireMoved(after.version + 1, name), ...rows];
    this.#isUnderWay = false;
    try {
      await this.#use(async (client) => {
        const isLocked = this.#holder === client;
        if (rows.length === 0 && !isLocked && this.#contended === 0) {
          const { rowCount } = await this.#underWay(() => client.query(first));
          if (rowCount === Math.max(1, entries.length)) return;
        }
        this.#contended = Math.max(0, this.#contended - 1);
        if (!isLocked) await this.#lockFor(client, after);
        this.#holder = undefined;
        await this.#underWay(() => commitAll(client, statements));
      });
    } catch (error) {
      if (!this.#isUnderWay || !isLoss(error)) throw error;
      await this.#findOut(statements, after, name);
    }
    feed.made(name, entries.at(-1));
    if (!isShared) return null;
    const { version, seq, hash } = feed.standing;
    return { version, gateway: name, before: after.name, seq, hash, facts };
  }

  /**
   * Locks the head of the chain in a transaction, and returns the commits that others have made. The lock stays, for
   * the batch that will follow them.
   */
  async #lock(client: Client): Promise<readonly Commit[]> {
    const { feed } = this.#of;
    const { standing } = feed;
    const results = (await client.query(
      `BEGIN; ${headQuestion} FOR UPDATE; ${commitsQuestion(standing.version, standing.version)}`,
    )) as unknown as QueryResult[];
    this.#holder = client;
    const head = results[1]?.rows[0] as LogHead;
    const found = (results[2]?.rows ?? []) as KeptCommit[];
    feed.require(standing, head, found[0]);
    // Others have written since, and this gateway has heard of it: the lock was gone before its answer came.
    if (head.version < feed.version) {
      this.#drop(client);
      return [];
    }
    if (head.version === feed.version) return [];
    this.#requireShared();
    this.#contended = contendedFor;
    return await feed.handOut(found, head.version);
  }

  /** Locks the head for a batch that was made after this commit. Memory may have followed others since. */
  async #lockFor(client: Client, after: Standing): Promise<void> {
    const commits = await this.#lock(client);
    const { version, name } = this.#of.feed.standing;
    if (version !== after.version || name !== after.name) throw new HeadMoved(commits);
  }

  #requireShared(): void {
    const { isShared, onFatal } = this.#of;
    if (isShared) return;
    const error = new NotAlone();
    onFatal(error);
    throw error;
  }

  async #letGo(): Promise<void> {
    if (this.#holder === undefined || this.#holder !== this.#client) return;
    this.#holder = undefined;
    await this.#use(async (client) => {
      await client.query('ROLLBACK');
    });
  }

  async #underWay<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#isUnderWay = true;
    const result = await work();
    this.#isUnderWay = false;
    return result;
  }

  /**
   * Runs after the connection was lost during a commit. Locking the head waits for the transaction of the old
   * connection to end; then its number shows whether the commit arrived. If it did not, it is written now and cannot
   * arrive later.
   */
  async #findOut(statements: readonly Statement[], after: Standing, name: string): Promise<void> {
    const tried: TriedCommit = { version: after.version + 1, name };
    const until = performance.now() + findOutMs;
    for (;;) {
      try {
        await this.#use(async (client) => {
          await client.query('BEGIN; SELECT version FROM chain FOR UPDATE');
          const isKept = await this.#hasMade(client, tried);
          this.#isUnderWay = false;
          await client.query('ROLLBACK');
          if (isKept) return;
          await this.#lockFor(client, after);
          this.#holder = undefined;
          await this.#underWay(() => commitAll(client, statements));
        });
        return;
      } catch (error) {
        if (!isLoss(error)) throw error;
        if (this.#isClosed || performance.now() >= until) {
          this.#unsure = tried;
          throw error;
        }
        await sleep(retryEveryMs);
      }
    }
  }

  /** Whether the commit of this number is there and is ours. */
  async #hasMade(client: Client, { version, name }: TriedCommit): Promise<boolean> {
    const found = await client.query('SELECT 1 FROM commits WHERE version = $1 AND gateway = $2', [version, name]);
    return (found.rowCount ?? 0) > 0;
  }

  /** Looks for a commit that was given up: its callers were told that it failed, and memory has rolled it back. */
  async #requireLost(client: Client): Promise<void> {
    const unsure = this.#unsure;
    if (unsure === undefined) return;
    await client.query('BEGIN; SELECT version FROM chain FOR UPDATE');
    const isKept = await this.#hasMade(client, unsure);
    await client.query('ROLLBACK');
    if (isKept) {
      const error = new CommitKept(unsure.version);
      this.#of.onFatal(error);
      throw error;
    }
    this.#unsure = undefined;
  }

  /** Writes as a commit does, but nothing that anyone reads. */
  async probe(): Promise<void> {
    await this.#letGo();
    await this.#use(async (client) => {
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
  async #use<Result>(work: (client: Client) => Promise<Result>): Promise<Result> {
    const client = this.#client ?? (await this.#connected());
    try {
      return await work(client);
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
    if (this.#client === client) this.#client = undefined;
    if (this.#holder === client) this.#holder = undefined;
    void disconnect(client);
  }
}

const nothing = { steps: [], touched: { agents: [], orgs: [], everything: false } };
