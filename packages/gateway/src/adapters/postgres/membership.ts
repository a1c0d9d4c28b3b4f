import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { StartError } from '../../start-error.ts';
import type { ConnectionOptions } from './connection.ts';
import { connect, disconnect } from './connection.ts';
import { slotHolders } from './locks.ts';
import { SharedRead } from './shared-read.ts';
import type { SlotTaker } from './take-slot.ts';
import { rememberedFor, takeSlot } from './take-slot.ts';

/** A gateway on the database. */
export interface Member {
  readonly slot: number;
  readonly id: string;
  readonly version: string;
  readonly startedAt: number;
  readonly state: 'active' | 'leaving' | 'lost';
  readonly agents: number;
  readonly opsInFlight: number;
}

export interface MembershipOptions extends SlotTaker {
  readonly connection: ConnectionOptions;
  /** A gateway that has shown no sign of life for this long counts as lost. */
  readonly lostAfterMs: number;
  /** Called when the database can be reached again after an outage. */
  readonly onRegained: () => void;
  /** Called if the gateway must not go on. */
  readonly onFatal: (error: Error) => void;
}

const aliveEveryMs = 1000;
const retryEveryMs = 250;

/**
 * A gateway's place among those on one database, and the connection that keeps it. The place says that somebody is
 * there; no rows belong to it. The lock of the slot ends with the connection, however that ends.
 */
export class Membership {
  readonly #of: MembershipOptions;
  #client: Client;
  #slot: number;
  #isHeld = true;
  #isClosed = false;
  #isAsking = false;
  #isLeaving = false;
  #members: readonly Member[] = [];
  readonly #membersNow = new SharedRead(() => this.#readNow());
  #readCompactly = false;
  /** When the members were last asked for, on the monotonic clock. */
  #readAt = Number.NEGATIVE_INFINITY;
  #load: () => { readonly agents: number; readonly opsInFlight: number } = () => ({ agents: 0, opsInFlight: 0 });
  #timer: NodeJS.Timeout | undefined;
  #onLost: (() => void) | undefined;

  private constructor(options: MembershipOptions, client: Client, slot: number) {
    this.#of = options;
    this.#client = client;
    this.#slot = slot;
  }

  /** Takes the first free slot, unless a gateway is there that does not hear others, or this one does not. */
  static async join(options: MembershipOptions): Promise<Membership> {
    const quick = { ...options, connection: { ...options.connection, query_timeout: 5000, statement_timeout: 0 } };
    const lost = Promise.withResolvers<unknown>();
    const client = await connect(quick.connection, lost.resolve);
    try {
      await setUp(client);
      const slot = await takeSlot(client, quick);
      const membership = new Membership(quick, client, slot);
      await membership.#stayAlive();
      membership.#timer = setInterval(() => void membership.#stayAlive(), aliveEveryMs);
      membership.#timer.unref();
      void lost.promise.then(() => membership.#lose(client));
      return membership;
    } catch (error) {
      await disconnect(client);
      throw error;
    }
  }

  get id(): string {
    return this.#of.id;
  }

  get slot(): number {
    return this.#slot;
  }

  /** False while the database cannot be reached. */
  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** All gateways on the database, as of the last second. */
  get members(): readonly Member[] {
    return this.#members;
  }

  /** All gateways on the database, as of now. As of the last second while the database does not answer. */
  membersNow(): Promise<readonly Member[]> {
    return this.#membersNow.ask();
  }

  /** Whether every gateway on the database reads facts in their compact form, also one that was only lost. */
  get readCompactly(): boolean {
    return this.#readCompactly;
  }

  /**
   * Whether this gateway does the work that one of them must do: expiry, retention and so on. One that has not shown
   * itself for so long that others count it as lost does not lead, because another one may. Two may think so for a
   * moment; a commit of one makes the other do its work again.
   */
  get leads(): boolean {
    if (!this.#isHeld || this.#isLeaving || performance.now() - this.#readAt > this.#of.lostAfterMs) return false;
    const first = this.#members.find(({ state }) => state === 'active');
    return first === undefined || first.id === this.id;
  }

  /** Tells from now on how much this gateway has to do. */
  report(load: () => { readonly agents: number; readonly opsInFlight: number }): void {
    this.#load = load;
  }

  /** Calls the listener whenever the database cannot be reached any more. */
  onLost(listener: () => void): void {
    this.#onLost = listener;
  }

  /** Others see that this gateway is about to end. */
  async leave(): Promise<void> {
    this.#isLeaving = true;
    await this.#stayAlive();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    const wasHeld = this.#isHeld;
    this.#isHeld = false;
    if (wasHeld) {
      const gone = this.#client.query('DELETE FROM gateways WHERE seat = $1 AND id = $2', [this.#slot, this.id]);
      await gone.catch(() => undefined);
    }
    await disconnect(this.#client);
  }

  /** Shows the others that this gateway is alive, and reads who else is. */
  async #stayAlive(): Promise<void> {
    if (!this.#isHeld || this.#isAsking) return;
    const client = this.#client;
    this.#isAsking = true;
    const askedAt = performance.now();
    try {
      const { agents, opsInFlight } = this.#load();
      const { rowCount } = await client.query(
        `UPDATE gateways SET seen_at = clock_timestamp(), is_leaving = $3, agents = $4, ops_in_flight = $5
          WHERE seat = $1 AND id = $2`,
        [this.#slot, this.id, this.#isLeaving, agents, opsInFlight],
      );
      if (rowCount === 0) throw new Error('the slot has another holder');
      if (this.leads) await client.query(forgetGone);
      const { members, readCompactly } = await readMembers(client, this.#of.lostAfterMs);
      this.#members = members;
      this.#readCompactly = readCompactly;
      this.#readAt = askedAt;
    } catch {
      this.#lose(client);
    } finally {
      this.#isAsking = false;
    }
  }

  async #readNow(): Promise<readonly Member[]> {
    try {
      return (await readMembers(this.#client, this.#of.lostAfterMs)).members;
    } catch {
      return this.#members;
    }
  }

  #lose(client: Client): void {
    if (client !== this.#client || !this.#isHeld) return;
    this.#isHeld = false;
    this.#onLost?.();
    void disconnect(client);
    void this.#regain(client);
  }

  async #regain(old: Client): Promise<void> {
    while (!this.#isClosed) {
      try {
        if (await this.#retake(old)) return;
      } catch (error) {
        if (error instanceof StartError) {
          this.#isClosed = true;
          this.#of.onFatal(error);
          return;
        }
        // The database is still out of reach.
      }
      await sleep(retryEveryMs, undefined, { ref: false });
    }
  }

  /** Takes the same slot again, or another one if somebody has it. True if there is nothing more to try. */
  async #retake(old: Client): Promise<boolean> {
    const lost = Promise.withResolvers<unknown>();
    const client = await connect(this.#of.connection, lost.resolve);
    let isKept = false;
    try {
      await setUp(client);
      // The server may not have noticed yet that the old connection is gone. This waits until it is.
      const end = `SELECT pg_terminate_backend(pid, 5000) FROM (${slotHolders}) AS held WHERE seat = $1 AND pid = $2`;
      await client.query(end, [this.#slot, processOf(old)]);
      this.#slot = await takeSlot(client, this.#of);
      isKept = !this.#isClosed;
    } finally {
      if (!isKept) void disconnect(client);
    }
    if (!isKept) return true;
    this.#client = client;
    this.#isHeld = true;
    void lost.promise.then(() => this.#lose(client));
    await this.#stayAlive();
    this.#of.onRegained();
    return true;
  }
}

interface MemberRow extends Omit<Member, 'startedAt'> {
  readonly startedAt: Date;
  readonly readsCompactly: boolean;
}

async function readMembers(
  client: Client,
  lostAfterMs: number,
): Promise<{ readonly members: readonly Member[]; readonly readCompactly: boolean }> {
  const { rows } = await client.query<MemberRow>(
    `SELECT seat AS slot, id, version, started_at AS "startedAt", agents, ops_in_flight AS "opsInFlight",
        compact_reader IS NOT DISTINCT FROM id AS "readsCompactly",
        CASE WHEN clock_timestamp() - seen_at > $1 * interval '1 millisecond' THEN 'lost'
          WHEN is_leaving THEN 'leaving' ELSE 'active' END AS state
      FROM gateways ORDER BY seat`,
    [lostAfterMs],
  );
  return {
    members: rows.map(({ slot, id, version, startedAt, state, agents, opsInFlight }) => ({
      ...{ slot, id, version, state, agents, opsInFlight },
      startedAt: startedAt.getTime(),
    })),
    readCompactly: rows.every(({ readsCompactly }) => readsCompactly),
  };
}

/** A gateway that nobody has started again is not missed for ever. One that is only stopped keeps its lock. */
const forgetGone = `DELETE FROM gateways WHERE seen_at < clock_timestamp() - ${rememberedFor}
  AND seat NOT IN (SELECT seat FROM (${slotHolders}) AS held)`;

/** Lets the server notice a silently lost connection within seconds, so that the slot becomes free. */
async function setUp(client: Client): Promise<void> {
  await client.query('SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3');
}

function processOf(client: Client): number {
  return 'processID' in client && typeof client.processID === 'number' ? client.processID : 0;
}
