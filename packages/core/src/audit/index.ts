export type { AuditPage, AuditQuery, AuditReader, EntryLog, StoredEntry } from './audit-reader.ts';
export { entryJson, EntryPage, mayBeSameEntry, ReadEntry } from './audit-reader.ts';
export { ByLineage } from './by-lineage.ts';
export type { CanonicalJson, Json } from './canonical-json.ts';
export { canonicalJson, canonicalText } from './canonical-json.ts';
export type { ChainHead, Seal } from './chain.ts';
export { emptyChain, sealer } from './chain.ts';
export type { Actor, AlertEvent, Decision, EntryDraft, Lineage, SealedEntry } from './entry.ts';
export { draftOf, lineageOfBinding, lineageOfId, noLineage, system } from './entry.ts';
export type { AuditEventType, Severity } from './event-types.ts';
export { eventSeverities } from './event-types.ts';
export type { PeoplePage, PeopleQuery, PeopleReader, SeenPerson, UserRunsPage, UserRunsQuery } from './people.ts';
export { mostAgentsOfPerson } from './people.ts';
export {
  breaksSecrets,
  findSecrets,
  nextHintOfSecret,
  mayNeedRedaction,
  namesSecret,
  redact,
  redactArguments,
  redactText,
} from './redact.ts';
export type { LogFollower } from './replay-log.ts';
export { replayLog } from './replay-log.ts';
export { EntryTimes, ReplayedEntry } from './replayed-entry.ts';
export { redacted } from './secret-options.ts';
