import type { DatabaseSync } from 'node:sqlite';
import { migrations } from './schema.ts';

/** Brings a database to the newest version, and refuses one that a newer Reeve has made. */
export function migrate(db: DatabaseSync): void {
  const row = db.prepare('PRAGMA user_version').get();
  const version = Number(row?.['user_version'] ?? 0);
  if (version > migrations.length) {
    throw new Error(
      `the store has version ${version} and this Reeve knows up to ${migrations.length}: it was made by a newer release`,
    );
  }
  for (const [index, sql] of migrations.entries()) {
    if (index < version) continue;
    db.exec('BEGIN IMMEDIATE');
    try {
      db.exec(sql);
      db.exec(`PRAGMA user_version = ${index + 1}`);
      db.exec('COMMIT');
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK');
      throw error;
    }
  }
}
