import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import type { ConnectionOptions } from './connection.ts';
import { connect, disconnect } from './connection.ts';
import type { SlotHolder } from './entries-statement.ts';
import { findSlot } from './find-slot.ts';
import { noticeChannel, slotHolders, slotLock } from './locks.ts';
import type { Notice } from './notices.ts';
import { parseNotice } from './notices.ts';

export interface SlotEvents {
  /** Another gateway has changed rows that this one may hold in memory. */
  readonly onNotice: (notice: Notice) => void;
  /** The slot has reached the database again after an outage, so notices may have been missed. */
  readonly onRegained: () => void;
  /** Another gateway has taken this slot and its rows; this gateway must not go on. */
  readonly onTaken: (error: Error) => void;
}

const aliveEveryMs = 1000;
const retryEveryMs = 250;

/**
 * A gateway's numbered place among those on one database, and the connection that keeps it. Operations belong to the
 * slot: its next holder takes them over. The lock ends with the connection, however that ends.
 */
export class Slot implements SlotHolder {
  readonly number: number;
  readonly holder: string;
  readonly #options: ConnectionOptions;
  readonly #events: SlotEvents;
  #client: Client;
  #isHeld = true;
  #isClosed = false;
  #isAsking = false;
  #timer: NodeJS.Timeout;

  private constructor(options: ConnectionOptions, events: SlotEvents, client: Client, number: number, holder: string) {
    this.#options = options;
    this.#events = events;
    this.#client = client;
    this.number = number;
    this.holder = holder;
    this.#timer = setInterval(() => void this.#stayAlive(), aliveEveryMs);
    this.#timer.unref();
  }

  /** Takes the first free slot and listens for notices. */
  static async take(options: ConnectionOptions, events: SlotEvents): Promise<Slot> {
    const quick: ConnectionOptions = { ...options, query_timeout: 5000, statement_timeout: 5000 };
    const lost = Promise.withResolvers<unknown>();
    const client = await connect(quick, lost.resolve);
    try {
      await setUp(client);
      const holder = randomUUID();
      const number = await findSlot(client, holder);
      const slot = new Slot(quick, events, client, number, holder);
      slot.#listen(client);
      void lost.promise.then(() => slot.#lose(client));
      return slot;
    } catch (error) {
      await disconnect(client);
      throw error;
    }
  }

  /** False while the database cannot be reached: another gateway may have taken the slot by then. */
  get isHeld(): boolean {
    return this.#isHeld;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#isHeld = false;
    clearInterval(this.#timer);
    await disconnect(this.#client);
  }

  #listen(client: Client): void {
    client.on('notification', ({ payload }) => {
      const notice = parseNotice(payload ?? '');
      if (notice !== undefined && notice.from !== this.number) this.#events.onNotice(notice);
    });
  }

  /** Shows other gateways that the slot's holder is alive, and checks that its connection is. */
  async #stayAlive(): Promise<void> {
    if (!this.#isHeld || this.#isAsking) return;
    const client = this.#client;
    this.#isAsking = true;
    try {
      const { rowCount } = await client.query(
        'UPDATE seats SET seen_at = clock_timestamp() WHERE seat = $1 AND holder = $2',
        [this.number, this.holder],
      );
      if (rowCount === 0) this.#taken();
    } catch {
      this.#lose(client);
    } finally {
      this.#isAsking = false;
    }
  }

  #lose(client: Client): void {
    if (client !== this.#client || !this.#isHeld) return;
    this.#isHeld = false;
    void disconnect(client);
    void this.#regain(client);
  }

  async #regain(old: Client): Promise<void> {
    while (!this.#isClosed) {
      try {
        if (await this.#retake(old)) return;
      } catch {
        // The database is still out of reach.
      }
      await sleep(retryEveryMs, undefined, { ref: false });
    }
  }

  /** True if there is nothing more to try: the slot is held again, or another gateway has it. */
  async #retake(old: Client): Promise<boolean> {
    const lost = Promise.withResolvers<unknown>();
    const client = await connect(this.#options, lost.resolve);
    let isKept = false;
    try {
      await setUp(client);
      const { rows } = await client.query<{ locked: boolean }>(
        'SELECT pg_try_advisory_lock($1, $2) AS locked',
        slotLock(this.number),
      );
      // Read the name after taking the lock. A gateway that took the slot in the meantime has left its name, even if it
      // is gone.
      const found = await client.query<{ holder: string }>('SELECT holder FROM seats WHERE seat = $1', [this.number]);
      if (found.rows[0]?.holder !== this.holder) {
        this.#taken();
        return true;
      }
      if (rows[0]?.locked !== true) {
        // The server has not yet noticed that the old connection is gone.
        const sql = `SELECT pg_terminate_backend(pid) FROM (${slotHolders}) AS held WHERE seat = $1 AND pid = $2`;
        await client.query(sql, [this.number, processOf(old)]);
        return false;
      }
      isKept = !this.#isClosed;
    } finally {
      if (!isKept) void disconnect(client);
    }
    this.#client = client;
    this.#listen(client);
    this.#isHeld = true;
    void lost.promise.then(() => this.#lose(client));
    this.#events.onRegained();
    return true;
  }

  #taken(): void {
    if (this.#isClosed) return;
    this.#isHeld = false;
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#events.onTaken(
      new Error(
        `another gateway has taken seat ${this.number} of the database, with its operations, while this one could not be reached`,
      ),
    );
  }
}

/** Lets the server notice a silently lost connection within seconds, so that the slot becomes free. */
async function setUp(client: Client): Promise<void> {
  await client.query(
    `SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3; LISTEN ${noticeChannel}`,
  );
}

function processOf(client: Client): number {
  return 'processID' in client && typeof client.processID === 'number' ? client.processID : 0;
}
