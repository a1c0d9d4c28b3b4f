import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { seatLock } from './locks.ts';

const lookEveryMs = 100;
/** Holders show every second that they live. */
const silentForMs = 4000;
/** By then the server has noticed that a holder's connection is dead. */
const patienceMs = 20_000;

/**
 * Locks the first seat that is free and puts the holder's name on it. A seat whose holder has just died is still locked
 * for a moment, and its operations wait for whoever takes it: so a new seat is added only once every other one's holder
 * has been seen alive.
 */
export async function findSeat(client: Client, holder: string): Promise<number> {
  const startedAt = performance.now();
  const firstSeen = new Map<number, string>();
  const alive = new Set<number>();
  for (;;) {
    const seats = await knownSeats(client);
    for (const { seat, seenAt } of seats) {
      if (await lock(client, seat)) return await sitDown(client, seat, holder);
      if (firstSeen.get(seat) === undefined) firstSeen.set(seat, seenAt);
      else if (firstSeen.get(seat) !== seenAt) alive.add(seat);
    }
    const waited = performance.now() - startedAt;
    const silent = seats.some(({ seat }) => !alive.has(seat));
    if (!silent || waited > patienceMs) {
      const added = 1 + Math.max(0, ...seats.map(({ seat }) => seat));
      if (await lock(client, added)) return await sitDown(client, added, holder);
    }
    await sleep(waited < silentForMs ? lookEveryMs : 10 * lookEveryMs);
  }
}

async function knownSeats(client: Client): Promise<{ seat: number; seenAt: string }[]> {
  const { rows } = await client.query<{ seat: number; seenAt: string }>(
    'SELECT seat, seen_at::text AS "seenAt" FROM seats ORDER BY seat',
  );
  return rows;
}

async function lock(client: Client, seat: number): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>(
    'SELECT pg_try_advisory_lock($1, $2) AS locked',
    seatLock(seat),
  );
  return rows[0]?.locked === true;
}

/** A new seat has no operations: there is nothing to be replayed for it. */
async function sitDown(client: Client, seat: number, holder: string): Promise<number> {
  await client.query(
    `INSERT INTO seats (seat, holder, seen_at, ops_replay_from)
      VALUES ($1, $2, clock_timestamp(), (SELECT seq FROM chain))
      ON CONFLICT (seat) DO UPDATE SET holder = excluded.holder, seen_at = excluded.seen_at`,
    [seat, holder],
  );
  // What the holder before was still writing is written, or will not be.
  await client.query('SELECT seq FROM chain FOR UPDATE');
  return seat;
}
