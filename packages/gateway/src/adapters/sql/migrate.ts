import type { DatabaseSync } from 'node:sqlite';
import { migrations } from './schema.ts';

/**
 * Migrates a database to the newest version, and refuses one that a newer Reeve has made. If several processes open the
 * same file, one migrates while the others wait, up to the lock timeout of their connection.
 */
export function migrate(db: DatabaseSync): void {
  if (versionOf(db) === migrations.length) return;
  db.exec('BEGIN IMMEDIATE');
  try {
    // Another process may have migrated while this one waited.
    for (const sql of migrations.slice(versionOf(db))) db.exec(sql);
    db.exec(`PRAGMA user_version = ${migrations.length}`);
    db.exec('COMMIT');
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

function versionOf(db: DatabaseSync): number {
  const version = Number(db.prepare('PRAGMA user_version').get()?.['user_version']);
  if (version > migrations.length) {
    throw new Error(
      `the store has version ${version} and this Reeve knows up to ${migrations.length}: it was made by a newer release; start that one, or restore a backup from before the upgrade`,
    );
  }
  return version;
}
