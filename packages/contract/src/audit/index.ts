export { canonicalJson } from './canonical-json.ts';
export type { Cut } from './cut.ts';
export { signedText } from './cut.ts';
export { auditEventTypes } from './event-types.ts';
export type { Verdict } from './judge-log.ts';
export { judgeLog } from './judge-log.ts';
export type { UncheckedEntry } from './verify-entries.ts';
export { EntryVerifier } from './verify-entries.ts';
