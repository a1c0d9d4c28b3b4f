export type { LogFilter, LogsChange, LostEntries } from './logs.ts';
export { acceptLostEntries, cutLog, entriesTable, lastCut, latestLogs, logRows, oldestLogs } from './logs.ts';
export type { BackupsChange, BackupsSnapshot, MadeBackup } from './record-backup.ts';
export { backupRows, lastBackupAt, recordBackup, rememberBackup } from './record-backup.ts';
