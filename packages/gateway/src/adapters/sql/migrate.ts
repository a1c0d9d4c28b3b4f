import type { DatabaseSync } from 'node:sqlite';
import { migrations } from './schema.ts';

/**
 * Brings a database to the newest version, and refuses one that a newer Reeve has made. Where several processes open
 * the same file, one does it while the others wait for as long as their connection waits for a lock.
 */
export function migrate(db: DatabaseSync): void {
  if (versionOf(db) === migrations.length) return;
  db.exec('BEGIN IMMEDIATE');
  try {
    // Another process may have done it while this one was waiting.
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
      `the store has version ${version} and this Reeve knows up to ${migrations.length}: it was made by a newer release`,
    );
  }
  return version;
}
