import { idsReserved, lastBackupAt, restoredAt, restoredFrom } from '@reeve/core';

/** Ids of events go on far above those that were given out after the backup: nobody gives out a million a second. */
export function eventIdsAfter(at: number): number {
  return Math.floor(at) * 1000;
}

/**
 * The statements that mark a store as restored, for SQLite and PostgreSQL. The next start records it in the log. The
 * table of marks is there from the first version on.
 */
export function restoredMarks(at: number, backupAt: number): readonly string[] {
  return [markSql(restoredAt, at, true), markSql(restoredFrom, backupAt, false)];
}

/** For a store that reserves the ids of events by a mark. */
export function reservedIdsMark(at: number): string {
  return markSql(idsReserved, eventIdsAfter(at), true);
}

/** For a store that comes out of a backup, which does not know of itself. */
export function lastBackupMark(backupAt: number): string {
  return markSql(lastBackupAt, backupAt, true);
}

function markSql(name: string, value: number, neverBack: boolean): string {
  const number = Math.floor(value);
  return `INSERT INTO meta (name, value) VALUES ('${name}', '${number}')
    ON CONFLICT (name) DO UPDATE SET value = excluded.value
    ${neverBack ? `WHERE CAST(meta.value AS BIGINT) < ${number}` : ''}`;
}
