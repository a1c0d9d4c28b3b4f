export type { AckRequest } from './acknowledge-control.ts';
export { acknowledgeControl, readAcknowledged } from './acknowledge-control.ts';
export { agentFacts } from './agent-facts.ts';
export { delegationFacts } from './delegation-facts.ts';
export { forgetEndedDelegations } from './forget-delegations.ts';
export { LeftAgentsSweep } from './left-agents-sweep.ts';
export type { BulkControl, ControlReport, ControlResult, ControlScope } from './bulk-control.ts';
export { controlFacts, storedControl } from './control-facts.ts';
export type { ControlOp, ControlledOp } from './control-op.ts';
export { controlOp } from './control-op.ts';
export type { ControlSettings, OnControlStep } from './control-registry.ts';
export { ControlRegistry } from './control-registry.ts';
export { watchedControls } from './watched-controls.ts';
export {
  bulksTable,
  departuresTable,
  receiptsTable,
  runControlsTable,
  sequencesTable,
} from './control-rows.ts';
export type { ScopeRequest } from './control-scope.ts';
export { controlScope, neededForScope } from './control-scope.ts';
export type { ControlChange, ControlReader, ControlSequence, ControlSnapshot } from './control-slice.ts';
export type { ControlReactions, Controls } from './controls.ts';
export { noteRunUse } from './hold-run.ts';
export type { ClearedLabels, ClearLabels } from './clear-labels.ts';
export { clearLabels, readOwnership } from './clear-labels.ts';
export type { RunAsked, RunDetails } from './find-run.ts';
export { readRun } from './find-run.ts';
export type { RunState, ShownRun } from './list-runs.ts';
export { listRuns, placeInList } from './list-runs.ts';
export type { FoundUserRuns } from './user-runs.ts';
export { findUserRuns } from './user-runs.ts';
export type { LiftSuspension } from './lift-suspension.ts';
export { liftSuspension } from './lift-suspension.ts';
export { listSuspensions, mayKnowOperations, suspensionPlace } from './list-suspensions.ts';
export { makeRoom } from './issue-controls.ts';
export type { RunControlPage } from './list-run-controls.ts';
export { listRunControls, runControlPlace } from './list-run-controls.ts';
export { ReservationReaper, StaleWatch, wakeOps } from './liveness.ts';
export type { ControlSubscription } from './messages.ts';
export { closeOutbox, forgiveStops, queueMessage, subscribeControl } from './messages.ts';
export type { ControlMessage, ControlSink } from './outbox.ts';
export { forgetDepartures, noteDeparture } from './own-agents.ts';
export { readControl } from './read-control.ts';
export { timeOutControls } from './receipts.ts';
export type { RunControl } from './run-controls.ts';
export { settleSuspensions } from './settle-suspensions.ts';
export type { SuspendScope } from './suspend-scope.ts';
export { suspendScope } from './suspend-scope.ts';
export { controlScopeOf } from './note-suspension.ts';
export type { SuspendAgent } from './suspend-agent.ts';
export { moveForSuspension, resumeAgent, suspendAgent } from './suspend-agent.ts';
