/*
 * What happens to a call when the gateway goes away. Start reading here.
 *
 * - `error-of-status.ts` names the failure. Only `ReeveUnavailable` means that the gateway is gone. Others are answers.
 *   The error says whether the call may still have arrived. The connection (`channel.ts`) comes back by itself.
 * - `gateways.ts` goes on to the next of several gateways, and takes the calls and the streams along. `silence.ts`
 *   finds a gateway that is connected but does not answer.
 * - `retry.ts` retries a call after a random wait, until the deadline leaves no room or the retry budget is spent.
 * - `check-pipeline.ts` sends the checks of a broken stream again on the next stream. Their ids make them replays.
 * - A check without an answer fails closed: it is denied, or throws if the caller wants that (`withoutAnswer`). A check
 *   that may have arrived (`mayHaveArrived`) leaves a report that the action never happened.
 * - `owed-reports.ts` keeps that report, and undelivered completions of runs, until a heartbeat gets through.
 * - `control-stream.ts` reopens the control stream, which continues after the last control. Held operations ask again.
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

/** Fails closed: no answer is a denial. The operation may exist at the gateway if only the answer was lost. */
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
    judgeResult: false,
    judgePrompt: false,
    decisionLatencyUs: 0,
    source: 'sdk',
  };
}

/** Whether the gateway may have taken a call that failed here. */
export function mayHaveArrived(error: unknown): boolean {
  if (error instanceof ReeveUnavailable) return error.mayHaveArrived;
  return !(error instanceof ReeveError) || error instanceof ReeveInternal;
}

const untold = [ReeveUnavailable, ReeveResourceExhausted, ReeveInternal, ReeveUnauthenticated];

/** These errors mean that the gateway does not know. Any other means that it does not care, or that all is over. */
export function isToldLater(error: unknown): boolean {
  return untold.some((ErrorClass) => error instanceof ErrorClass);
}
