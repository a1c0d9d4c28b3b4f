export { EventBus } from './event-bus.ts';
export type { EventIdsChange, EventIdsSnapshot } from './event-ids.ts';
export { eventIdFacts, idsReserved } from './event-ids.ts';
export type { Noting } from './footprint.ts';
export type { Batch, JournalOf, Told } from './journal-ports.ts';
export { Journal } from './journal.ts';
export type {
  Applying,
  FactPorts,
  Meaning,
  Meanings,
  Named,
  NameOf,
  Redo,
  SavedLater,
  Typed,
  Undo,
} from './meaning.ts';
export {
  factsWith,
  nameOf,
  noRows,
  nothingToApply,
  restoring,
  shownOnly,
  storedOnly,
  touchesNobody,
  touchesOrg,
  undoAll,
} from './meaning.ts';
export type { RestoresChange, RestoresSnapshot } from './restores.ts';
export { restoreFacts, restoredAt, restoredFrom } from './restores.ts';
export type { ForeignCommit, Sharing, Step, Touch, Touched, Unread } from './shared-log.ts';
export { everything, factOf, HeadMoved, orgItself, touchedBy } from './shared-log.ts';
export { eachNoted, watched } from './watched.ts';
export type { Warrant } from './warrant.ts';
export { ownWork } from './warrant.ts';
export type { AgentColumn, Column, Mark, Prune, Push, Reading, Row, RowCondition, RowsOf, Table } from './rows.ts';
export type { Value, Write } from './rows.ts';
export { agentColumns, agentIdOf, agentValues, clear, every, fixed, flag, integer, marksTable } from './rows.ts';
export { numberIn, optionalNumberIn, optionalTextIn, prune, push, put, remove, text, textIn } from './rows.ts';
export { aFlag, aNumber, aText, oneOf, optional, tableOf, update } from './rows.ts';
export type { SaveStep } from './write-behind.ts';
export { WriteBehind } from './write-behind.ts';
