/** The first half of Reeve's advisory locks, because a database may have others. It spells "REEV". */
const lockClass = 0x52454556;

export const migrationLock = [lockClass, 0];

/** Held while a gateway looks who else is there and takes its slot. */
export const joinLock = [lockClass, 2 ** 31 - 1];

/** Slots are numbered from 1. */
export function slotLock(slot: number): number[] {
  return [lockClass, slot];
}

/** SQL that selects the slots whose holders are connected now, with the process ids of their connections. */
export const slotHolders = `
  SELECT objid::bigint AS seat, pid FROM pg_locks
  WHERE locktype = 'advisory' AND classid = ${lockClass} AND objsubid = 2 AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
