/** The first half of Reeve's advisory locks, because a database may have others. It spells "REEV". */
const lockClass = 0x52454556;

export const migrationLock = [lockClass, 0];

/** Held while a gateway looks who else is there and takes its seat. */
export const joinLock = [lockClass, 2 ** 31 - 1];

/** Seats are numbered from 1. */
export function seatLock(seat: number): number[] {
  return [lockClass, seat];
}

/** SQL that selects the seats whose holders are connected now, with the process ids of their connections. */
export const seatHolders = `
  SELECT objid::bigint AS seat, pid FROM pg_locks
  WHERE locktype = 'advisory' AND classid = ${lockClass} AND objsubid = 2 AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
