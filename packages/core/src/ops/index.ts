export type { Housekeeping } from './checkpoint.ts';
export { OpsCheckpoint, removeRowsOf, sweepOps } from './checkpoint.ts';
export type { CompleteOp, CompleteRequest, Outcome } from './complete-op.ts';
export { completeAction, completeOp } from './complete-op.ts';
export { findOp, inFlight, listOps, readOp } from './find-ops.ts';
export { endOpsOf, moveByDecision, moveOp } from './move-op.ts';
export { noteUse } from './note-use.ts';
export type { OpState } from './lifecycle.ts';
export type { Op, OpMembers, OpRecord, OpUsage } from './op.ts';
export type { ResultDuty } from './result-duty.ts';
export type { OpRewrite } from './op-rewrite.ts';
export { boundDigest } from './op-rewrite.ts';
export { isOver, nextState, opStates } from './lifecycle.ts';
export { bareRecord, noDelegators, recordOf } from './op.ts';
export { inRun } from './op-in-run.ts';
export type { OpMoved, Operations, OperationsChange, OperationsEvent, OpsReactions } from './operations.ts';
export { isInRow } from './in-row.ts';
export { dropOp, opsFacts, rowsName } from './ops-facts.ts';
export { opsTable, replayFrom } from './ops-rows.ts';
export type { CheckShown, OpsChange, OpsChangeEvent, OpsSnapshot, SavedOp } from './ops-slice.ts';
export { arrivalOf, boundedOp, checksShown } from './ops-slice.ts';
export type { AckOutcome, ControlAction, ControlWord, Receipt, ReceiptStatus } from './receipt.ts';
export {
  acknowledged,
  delivered,
  evidenceOf,
  givenUp,
  isDue,
  lifted,
  offFloor,
  receiptStatuses,
  unconfirmed,
} from './receipt.ts';
export { OpsOfEntries } from './ops-of-entries.ts';
export type { FindReceipts } from './restore-ops.ts';
export { RestoredOps } from './restore-ops.ts';
export type { RegisterOp, RegisteredOp } from './register-op.ts';
export { expireUnchecked, registerOp } from './register-op.ts';
export { OpsRegistry } from './registry.ts';
export { watchedOps } from './watched-ops.ts';
