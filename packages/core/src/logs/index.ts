export type { SearchedEntry } from './fits-query.ts';
export { asksForAll, fitsQuery, holdsText } from './fits-query.ts';
export type { PeopleFilter, PeoplePlace } from './list-people.ts';
export { listPeople } from './list-people.ts';
export type { LogFilter, LogsChange, LostEntries } from './logs.ts';
export {
  acceptLostEntries,
  cutLog,
  emailKey,
  entriesTable,
  lastCut,
  latestLogs,
  logFacts,
  oldestLogs,
  searchedOf,
} from './logs.ts';
export type { BackupsChange, BackupsSnapshot, MadeBackup } from './record-backup.ts';
export { backupFacts, lastBackupAt, recordBackup, rememberBackup } from './record-backup.ts';
