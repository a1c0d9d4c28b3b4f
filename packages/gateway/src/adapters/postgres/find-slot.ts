import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { slotLock } from './locks.ts';

const lookEveryMs = 100;
/** A holder shows every second that it is alive. */
const silentForMs = 4000;
/** By then the server has noticed a holder's dead connection. */
const patienceMs = 20_000;

/**
 * Locks the first free slot and writes the holder's name on it. The slot of a holder that has just died stays locked
 * for a moment, and its operations wait for the next holder. So a new slot is added only once every other holder has
 * been seen alive.
 */
export async function findSlot(client: Client, holder: string): Promise<number> {
  const startedAt = performance.now();
  const firstSeen = new Map<number, string>();
  const alive = new Set<number>();
  for (;;) {
    const slots = await knownSlots(client);
    for (const { slot, seenAt } of slots) {
      if (await lock(client, slot)) return await takeSlot(client, slot, holder);
      if (firstSeen.get(slot) === undefined) firstSeen.set(slot, seenAt);
      else if (firstSeen.get(slot) !== seenAt) alive.add(slot);
    }
    const waited = performance.now() - startedAt;
    const silent = slots.some(({ slot }) => !alive.has(slot));
    if (!silent || waited > patienceMs) {
      const added = 1 + Math.max(0, ...slots.map(({ slot }) => slot));
      if (await lock(client, added)) return await takeSlot(client, added, holder);
    }
    await sleep(waited < silentForMs ? lookEveryMs : 10 * lookEveryMs);
  }
}

async function knownSlots(client: Client): Promise<{ slot: number; seenAt: string }[]> {
  const { rows } = await client.query<{ slot: number; seenAt: string }>(
    'SELECT seat AS slot, seen_at::text AS "seenAt" FROM seats ORDER BY seat',
  );
  return rows;
}

async function lock(client: Client, slot: number): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>(
    'SELECT pg_try_advisory_lock($1, $2) AS locked',
    slotLock(slot),
  );
  return rows[0]?.locked === true;
}

/** A new slot has no operations, so there is nothing to replay. */
async function takeSlot(client: Client, slot: number, holder: string): Promise<number> {
  await client.query(
    `INSERT INTO seats (seat, holder, seen_at, ops_replay_from)
      VALUES ($1, $2, clock_timestamp(), (SELECT seq FROM chain))
      ON CONFLICT (seat) DO UPDATE SET holder = excluded.holder, seen_at = excluded.seen_at`,
    [slot, holder],
  );
  // Wait until the previous holder's last write has been committed or can no longer be.
  await client.query('SELECT seq FROM chain FOR UPDATE');
  return slot;
}
