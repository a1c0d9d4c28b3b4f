export type { LogFilter, LogsChange, LostEntries } from './logs.ts';
export { acceptLostEntries, cutLog, entriesTable, lastCut, latestLogs, logRows, oldestLogs } from './logs.ts';
export type { MadeBackup } from './record-backup.ts';
export { recordBackup } from './record-backup.ts';
