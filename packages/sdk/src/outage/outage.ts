/*
 * What happens to a call when the gateway goes away. Start reading here.
 *
 * - `error-of-status.ts` names the failure. Only `ReeveUnavailable` means that the gateway is gone; all else is an answer.
 *   It tells whether the call may have arrived all the same. The connection (`channel.ts`) comes back by itself.
 * - `retry.ts` tries a call again, after a random wait, until its deadline leaves no room or the client's budget is spent.
 * - `check-pipeline.ts` sends checks that share a stream once more on the next stream; by their ids they are replays.
 * - A check without an answer is denied, or throws where the caller wants that (`withoutAnswer`): it fails closed. One that
 *   may have arrived (`mayHaveArrived`) leaves a report behind that it never happened.
 * - `owed-reports.ts` keeps that report, and the completion of a run that could not be told, until a heartbeat gets through.
 * - `control-stream.ts` opens the control stream again, which goes on after the last control; what is held asks anew.
 * - `ack-queue.ts` keeps acknowledgements of controls until the gateway knows (`isToldLater`).
 */

import type { Answer } from '../answer.ts';
import {
  ReeveError,
  ReeveInternal,
  ReeveResourceExhausted,
  ReeveUnauthenticated,
  ReeveUnavailable,
} from '../errors.ts';
import type { TraceIds } from '../trace-ids.ts';
import { opIdOf } from '../trace-ids.ts';

/** Fail closed: no answer is a denial. The operation may exist at the gateway, as only the answer may be lost. */
export function withoutAnswer(error: unknown, ids: TraceIds, onUnavailable: 'deny' | 'throw'): Answer {
  if (!(error instanceof ReeveUnavailable) || onUnavailable === 'throw') throw error;
  return {
    decision: 'deny',
    allowed: false,
    reason: `gateway unreachable: ${error.message}`,
    policyRule: '',
    opId: opIdOf(ids),
    ...ids,
    opState: undefined,
    approvalId: undefined,
    limit: undefined,
    decisionLatencyUs: 0,
    source: 'sdk',
  };
}

/** Whether the gateway may have taken the call although it failed here. */
export function mayHaveArrived(error: unknown): boolean {
  if (error instanceof ReeveUnavailable) return error.mayHaveArrived;
  return !(error instanceof ReeveError) || error instanceof ReeveInternal;
}

const untold = [ReeveUnavailable, ReeveResourceExhausted, ReeveInternal, ReeveUnauthenticated];

/** With these the gateway was not told. Every other error means that it does not want to know, or that all is over. */
export function isToldLater(error: unknown): boolean {
  return untold.some((ErrorClass) => error instanceof ErrorClass);
}
