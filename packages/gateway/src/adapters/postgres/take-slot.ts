import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { StartError } from '../../start-error.ts';
import { joinLock, slotHolders, slotLock } from './locks.ts';

/** Who takes a slot. */
export interface SlotTaker {
  /** Names this run of this gateway, and no other. */
  readonly id: string;
  readonly version: string;
  /** Whether this gateway hears what others do. If not, it must be the only one. */
  readonly hearsOthers: boolean;
}

/** In SQL: how long a gateway is remembered that nobody has started again. */
export const rememberedFor = "interval '1 hour'";

const lookEveryMs = 100;
/** By then the server has noticed the dead connection of a gateway. */
const patienceMs = 20_000;

interface Slot {
  readonly slot: number;
  readonly id: string;
  readonly hearsOthers: boolean;
  readonly seenAt: string;
  /** One of 0.1.0 that was lost lately. It may come back, and must find no facts that it cannot read. */
  readonly isKept: boolean;
}

/** One gateway at a time looks and takes a slot. */
export async function takeSlot(client: Client, options: SlotTaker): Promise<number> {
  await client.query('SELECT pg_advisory_lock($1, $2)', joinLock);
  try {
    return await findSlot(client, options);
  } finally {
    await client.query('SELECT pg_advisory_unlock($1, $2)', joinLock).catch(() => undefined);
  }
}

async function findSlot(client: Client, options: SlotTaker): Promise<number> {
  const startedAt = performance.now();
  const firstSeen = new Map<string, string>();
  for (;;) {
    const slots = await knownSlots(client);
    const held = new Set<number>();
    let isUnclear = false;
    for (const { slot, id, hearsOthers, seenAt, isKept } of slots) {
      if (await isFree(client, slot)) {
        if (isKept) held.add(slot);
        continue;
      }
      held.add(slot);
      if (options.hearsOthers && hearsOthers) continue;
      // A gateway that has just died keeps its slot for a moment. One that lives shows it every second.
      const before = firstSeen.get(id);
      if (before !== undefined && before !== seenAt) throw notAlone(options.hearsOthers);
      firstSeen.set(id, seenAt);
      isUnclear = true;
    }
    if (!isUnclear || performance.now() - startedAt > patienceMs) {
      const slot = firstNotIn(held);
      if (await lock(client, slot)) return await write(client, slot, options);
    }
    await sleep(lookEveryMs);
  }
}

function firstNotIn(held: ReadonlySet<number>): number {
  for (let slot = 1; ; slot++) if (!held.has(slot)) return slot;
}

function notAlone(hearsOthers: boolean): StartError {
  return new StartError(
    hearsOthers
      ? 'another gateway without SVC_NATS_URL runs on this SVC_DATABASE_URL; stop it, or give it the same SVC_NATS_URL'
      : 'another gateway runs on this SVC_DATABASE_URL; several gateways need the same SVC_NATS_URL to hear each other',
  );
}

async function knownSlots(client: Client): Promise<Slot[]> {
  const { rows } = await client.query<Slot>(
    `SELECT seat AS slot, id, hears_others AS "hearsOthers", seen_at::text AS "seenAt",
        hears_others AND compact_reader IS DISTINCT FROM id AND seen_at > clock_timestamp() - ${rememberedFor} AS "isKept"
      FROM gateways ORDER BY seat`,
  );
  return rows;
}

/** Whether nobody holds a slot. The answer may be out of date, so whoever wants the slot locks it. */
async function isFree(client: Client, slot: number): Promise<boolean> {
  const { rowCount } = await client.query(`SELECT 1 FROM (${slotHolders}) AS held WHERE seat = $1`, [slot]);
  return rowCount === 0;
}

async function lock(client: Client, slot: number): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>(
    'SELECT pg_try_advisory_lock($1, $2) AS locked',
    slotLock(slot),
  );
  return rows[0]?.locked === true;
}

async function write(client: Client, slot: number, { id, version, hearsOthers }: SlotTaker): Promise<number> {
  // After an outage the same gateway may find its slot taken, and gets another one.
  await client.query('DELETE FROM gateways WHERE id = $1 AND seat <> $2', [id, slot]);
  await client.query(
    `INSERT INTO gateways AS g (seat, id, version, hears_others, compact_reader) VALUES ($1, $2, $3, $4, $2)
      ON CONFLICT (seat) DO UPDATE SET id = excluded.id, version = excluded.version,
        hears_others = excluded.hears_others, compact_reader = excluded.compact_reader, seen_at = clock_timestamp(), is_leaving = false,
        agents = 0, ops_in_flight = 0,
        started_at = CASE WHEN g.id = excluded.id THEN g.started_at ELSE clock_timestamp() END`,
    [slot, id, version, hearsOthers],
  );
  return slot;
}
