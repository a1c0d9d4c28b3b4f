import type { Agent, Answer, Operation, Outcome } from '@reeve/sdk';
import { ActionDeniedError, OperationTerminatedError, ReeveUnauthenticated, ResultDenied } from '@reeve/sdk';
import type { Refusal } from '@reeve/sdk/mcp';
import { away, denied, refusalOf, stopped } from '@reeve/sdk/mcp';
import type { Message } from '../protocol/message.ts';
import type { JsonObject } from '../protocol/written-json.ts';
import { asResponse, errorMessage } from '../protocol/message.ts';
import { isObject } from '../protocol/written-json.ts';
import type { Arrival } from '../pending-requests.ts';
import { UpstreamGone } from '../transport/upstream.ts';
import type { CallSubject } from '../call-subject.ts';
import { judgedArrival } from './judge-arrival.ts';
import type { CallProgress } from './call-progress.ts';
import type { Governor } from './governor.ts';

/** A call on its way to whom it asks, and back. */
export interface CallInFlight {
  readonly subject: CallSubject;
  readonly runId: string;
  /** The token of the user for whom the agent acts, which the gateway judges. */
  readonly subjectToken: string | undefined;
  readonly progress: CallProgress;
  /** Fires when whoever calls cancels the call or goes away. */
  readonly cancelled: AbortSignal;
  /** Sends the call, with other arguments if policy has rewritten them, and waits for what comes back. */
  forward(args: JsonObject | undefined, isJudged: boolean): Promise<Arrival>;
  /** Tells whom it asks to stop. Resolves when they know, or do not listen. */
  stop(reason: string): Promise<void>;
  answer(message: Message): Promise<void>;
  pass(arrival: Arrival): Promise<void>;
}

/** Has a call decided, and lets it happen or not. Never throws: the client gets an answer, unless it cancelled. */
export async function governCall(call: CallInFlight, governor: Governor): Promise<void> {
  const end = await carriedOut(call, governor).catch((error: unknown) => ({ refused: refusalFor(error) }));
  call.progress.release();
  if (end === undefined || call.cancelled.aborted) return;
  if ('arrival' in end) await call.pass(end.arrival);
  else if ('gone' in end) await call.answer(errorMessage(call.subject.id, -32_000, end.gone.message));
  else await call.answer(call.subject.refused(end.refused));
}

/** How a call ended. Undefined if nobody waits for it. */
type End = { readonly arrival: Arrival } | { readonly refused: Refusal } | { readonly gone: UpstreamGone } | undefined;

async function carriedOut(call: CallInFlight, governor: Governor): Promise<End> {
  let agent: Agent;
  let subjectToken: string | undefined;
  try {
    subjectToken = call.subjectToken ?? (await governor.subjectToken?.());
  } catch (error) {
    return { refused: denied(identityRefused(messageOf(error))) };
  }
  try {
    agent = await governor.agent();
  } catch (error) {
    if (error instanceof ReeveUnauthenticated) return { refused: denied(identityRefused(error.message)) };
    return withoutGateway(call, governor, messageOf(error));
  }
  let begun = false;
  let held: Answer | undefined;
  const { tool, args, annotations } = call.subject;
  // It is judged here, as a message of the protocol, so the work gives back nothing.
  let end: End;
  try {
    await agent.run(
      { tool, source: governor.server, args, annotations },
      async (operation) => {
        begun = true;
        call.progress.release();
        end = await performed(call, operation, held !== undefined);
      },
      {
        runId: call.runId,
        subjectToken,
        canRewrite: true,
        via: { door: 'mcp', name: governor.server },
        estimatedCostMicros: governor.costs(tool),
        waitMs: governor.approvalWaitMs,
        signal: call.cancelled,
        onHeld: (answer) => {
          held = answer;
          call.progress.hold(
            answer.approvalId === undefined ? `Held: ${answer.reason}` : `Waiting for approval ${answer.approvalId}`,
          );
        },
      },
    );
    return end;
  } catch (error) {
    if (error instanceof ResultDenied) return end;
    if (held !== undefined && !begun) await callOff(agent, held);
    if (call.cancelled.aborted) {
      // The client left before the answer to the check came. A heartbeat brings the report that nothing happened.
      if (held === undefined && !begun) void agent.heartbeat().catch(() => {});
      return undefined;
    }
    if (error instanceof OperationTerminatedError && begun) return { refused: stopped(error) };
    if (error instanceof ActionDeniedError && error.answer.source === 'sdk') {
      return withoutGateway(call, governor, error.answer.reason);
    }
    return { refused: refusalFor(error, held) };
  }
}

/** The call itself, once it is allowed. Ends when the answer is there, or when nobody wants that any more. */
async function performed(call: CallInFlight, operation: Operation, wasHeld: boolean): Promise<End> {
  const { subject } = call;
  const { judgeResult } = operation.answer;
  const opId = operation.id;
  const unjudgeable = judgeResult && subject.unjudgeable !== undefined;
  // The tool may have changed while somebody thought about the call.
  const refusal = unjudgeable
    ? denied({ reason: subject.unjudgeable ?? '', policyRule: '', opId })
    : wasHeld
      ? await subject.refusal()
      : undefined;
  if (refusal !== undefined) {
    operation.ended('cancelled');
    operation.note(refusal.reason);
    return { refused: { ...refusal, opId } };
  }
  const sent = call.forward(operation.answer.rewrittenArgs, judgeResult).catch(goneOf);
  const arrival = await Promise.race([sent, stopOf(AbortSignal.any([operation.signal, call.cancelled]))]);
  if (arrival !== undefined && 'gone' in arrival) {
    operation.ended('failed');
    operation.note(arrival.gone.message);
    return arrival;
  }
  if (arrival !== undefined) {
    const { outcome, note } = outcomeOf(arrival);
    operation.ended(outcome);
    operation.note(note);
    if (operation.state === 'paused') call.progress.hold('Paused by an operator');
    // A pause holds back the result.
    await Promise.race([operation.checkpoint(), stopOf(call.cancelled)]);
    const end = judgeResult && !call.cancelled.aborted ? await judged(call, operation, arrival) : { arrival };
    await Promise.race([operation.checkpoint(), stopOf(call.cancelled)]);
    if (!call.cancelled.aborted) return end;
  } else await call.stop(operation.signal.aborted ? 'stopped by an operator' : 'cancelled by the client');
  operation.signal.throwIfAborted();
  operation.ended('cancelled');
  operation.note('the client cancelled the call or went away');
  return undefined;
}

/** What came back, as it may be read. Whatever goes wrong, nobody reads it. */
async function judged(call: CallInFlight, operation: Operation, arrival: Arrival): Promise<End> {
  const judge = (json: string, isError: boolean) => operation.checkResult(json, { isError });
  try {
    if (isOfTask(arrival))
      throw new Error('the server gives the result later, as that of a task, where nobody judges it');
    return { arrival: await judgedArrival(call.subject.method, arrival, judge) };
  } catch (error) {
    if (error instanceof OperationTerminatedError) throw error;
    operation.note('the result was not given');
    if (error instanceof ResultDenied) return { refused: denied(error) };
    return { refused: denied({ reason: messageOf(error), policyRule: '', opId: operation.id }) };
  }
}

/** Whether a server has put off its answer, to be asked for by other means. */
function isOfTask({ message }: Arrival): boolean {
  const result = message === undefined ? undefined : asResponse(message)?.result;
  return isObject(result) && (result['resultType'] === 'task' || isObject(result['task']));
}

function goneOf(error: unknown): { readonly gone: UpstreamGone } {
  if (error instanceof UpstreamGone) return { gone: error };
  throw error;
}

function stopOf(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}

function outcomeOf({ message, refusal }: Arrival): { outcome: Outcome; note: string } {
  if (refusal !== undefined) return { outcome: 'failed', note: `the server answered HTTP ${refusal.status}` };
  const response = message === undefined ? undefined : asResponse(message);
  if (response?.error !== undefined) {
    const code = isObject(response.error) ? Number(response.error['code']) : Number.NaN;
    return { outcome: 'failed', note: `the server answered the error ${code}` };
  }
  const result = isObject(response?.result) ? response.result : {};
  if (result['isError'] === true) return { outcome: 'failed', note: 'the tool reported an error' };
  const isPartial = result['resultType'] === 'input_required';
  return { outcome: 'succeeded', note: isPartial ? 'the server asked for more input' : '' };
}

/** Nobody waits for the held call any more. Its approval ends, so that nobody is asked in vain. */
async function callOff(agent: Agent, { opId }: Answer): Promise<void> {
  const detail = 'nobody waits for it any more';
  // If the gateway is away, the approval expires. If it was decided just now, the SDK reports that nothing happened.
  await agent.complete(opId, { outcome: 'cancelled', actualCostMicros: 0, detail }).catch(() => {});
}

async function withoutGateway(call: CallInFlight, governor: Governor, reason: string): Promise<End> {
  if (!governor.failOpen) return { refused: away(reason) };
  const { tool } = call.subject;
  governor.warn(`fail-open: a call of ${JSON.stringify(tool)} passes without a decision: ${reason}`);
  const arrival = await Promise.race([call.forward(undefined, false).catch(goneOf), stopOf(call.cancelled)]);
  if (arrival !== undefined) return 'gone' in arrival ? arrival : { arrival };
  await call.stop('cancelled by the client');
  return undefined;
}

function refusalFor(error: unknown, held?: Answer): Refusal {
  return refusalOf(error, held) ?? away(messageOf(error));
}

function identityRefused(message: string): Pick<Answer, 'reason' | 'policyRule' | 'opId'> {
  return { reason: message, policyRule: 'identity', opId: '' };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
