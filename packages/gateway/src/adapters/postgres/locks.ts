/** The first half of the advisory locks that are Reeve's, as a database may have others. It spells "REEV". */
const lockClass = 0x52454556;

export const migrationLock = [lockClass, 0];

/** Slots are numbered from 1. */
export function slotLock(slot: number): number[] {
  return [lockClass, slot];
}

/** What gateways tell each other through the database. */
export const noticeChannel = 'reeve_changes';

/** SQL that selects the slots whose holders are connected now, with their connections. */
export const slotHolders = `
  SELECT objid::bigint AS seat, pid FROM pg_locks
  WHERE locktype = 'advisory' AND classid = ${lockClass} AND objsubid = 2 AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
