import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { StartError } from '../../start-error.ts';
import { StoredLog } from './stored-log.ts';
import { lastBackupMark, reservedIdsMark, restoredMarks } from './mark-restored.ts';

/** Marks the file of a stopped embedded store as restored. Without `backupAt`, its newest entry says how old it is. */
export function markRestoredStore(path: string, at: number, backupAt?: number): void {
  if (!existsSync(path)) throw new StartError(`--restored: there is no store at ${path}`);
  using db = new DatabaseSync(path);
  const from = backupAt ?? new StoredLog(db).newestAt() ?? at;
  const known = backupAt === undefined ? [] : [lastBackupMark(backupAt)];
  db.exec('BEGIN IMMEDIATE');
  for (const sql of [...restoredMarks(at, from), reservedIdsMark(at), ...known]) db.exec(sql);
  db.exec('COMMIT');
}
