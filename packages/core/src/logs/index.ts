export type { LogFilter, LogsChange, LostEntries } from './logs.ts';
export { acceptLostEntries, cutLog, entriesTable, lastCut, latestLogs, logRows, oldestLogs } from './logs.ts';
