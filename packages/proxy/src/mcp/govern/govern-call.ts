import type { Agent, Answer, Operation, Outcome } from '@reeve/sdk';
import { ActionDeniedError, OperationTerminatedError, ReeveUnauthenticated } from '@reeve/sdk';
import type { Refusal } from '@reeve/sdk/mcp';
import { away, denied, refusalOf, stopped } from '@reeve/sdk/mcp';
import type { JsonId, Message } from '../protocol/message.ts';
import type { JsonObject } from '../protocol/written-json.ts';
import { asResponse, errorMessage } from '../protocol/message.ts';
import { isObject } from '../protocol/written-json.ts';
import type { Arrival } from '../pending-requests.ts';
import { UpstreamGone } from '../transport/upstream.ts';
import { refusedResult } from './answers.ts';
import type { CallProgress } from './call-progress.ts';
import type { Governor } from './governor.ts';

/** A call of a tool on its way from the client to the server and back. */
export interface ToolCallInFlight {
  readonly id: JsonId;
  readonly tool: string;
  readonly args: unknown;
  readonly annotations: JsonObject | undefined;
  /** Whether its revision wants a `resultType`. */
  readonly isStateless: boolean;
  readonly runId: string;
  /** The token of the user for whom the agent acts, which the gateway judges. */
  readonly subjectToken: string | undefined;
  readonly progress: CallProgress;
  /** Fires when the client cancels the call or goes away. */
  readonly cancelled: AbortSignal;
  /** Why the tool may not be called as it is at the moment, or undefined. */
  refusal(): Promise<string | undefined>;
  /** Sends the call to the server and waits for what comes back. */
  forward(): Promise<Arrival>;
  /** Tells the server to stop. Resolves when it knows, or does not listen. */
  stop(reason: string): Promise<void>;
  answer(message: Message): Promise<void>;
  pass(arrival: Arrival): Promise<void>;
}

/** Has a call decided, and lets it happen or not. Never throws: the client gets an answer, unless it cancelled. */
export async function governCall(call: ToolCallInFlight, governor: Governor): Promise<void> {
  const end = await carriedOut(call, governor).catch((error: unknown) => ({ refused: refusalFor(error) }));
  call.progress.release();
  if (end === undefined || call.cancelled.aborted) return;
  if ('arrival' in end) await call.pass(end.arrival);
  else if ('gone' in end) await call.answer(errorMessage(call.id, -32_000, end.gone.message));
  else await call.answer(refusedResult(call.id, end.refused, call.isStateless));
}

/** How a call ended. Undefined if nobody waits for it. */
type End = { readonly arrival: Arrival } | { readonly refused: Refusal } | { readonly gone: UpstreamGone } | undefined;

async function carriedOut(call: ToolCallInFlight, governor: Governor): Promise<End> {
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
  try {
    return await agent.run(
      { tool: call.tool, source: governor.server, args: call.args, annotations: call.annotations },
      (operation) => {
        begun = true;
        call.progress.release();
        return performed(call, operation, held !== undefined);
      },
      {
        runId: call.runId,
        subjectToken,
        via: { door: 'mcp', name: governor.server },
        estimatedCostMicros: governor.costs(call.tool),
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
  } catch (error) {
    if (error instanceof UpstreamGone) return { gone: error };
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

/** The call itself, once it is allowed. Ends when the server has answered, or when nobody wants that any more. */
async function performed(call: ToolCallInFlight, operation: Operation, wasHeld: boolean): Promise<End> {
  // The tool may have changed while somebody thought about the call.
  const refusal = wasHeld ? await call.refusal() : undefined;
  if (refusal !== undefined) {
    operation.ended('cancelled');
    operation.note(refusal);
    return { refused: denied({ reason: refusal, policyRule: 'lock', opId: operation.id }) };
  }
  const arrival = await Promise.race([call.forward(), stopOf(AbortSignal.any([operation.signal, call.cancelled]))]);
  if (arrival !== undefined) {
    const { outcome, note } = outcomeOf(arrival);
    operation.ended(outcome);
    operation.note(note);
    if (operation.state === 'paused') call.progress.hold('Paused by an operator');
    // A pause holds back the result.
    await Promise.race([operation.checkpoint(), stopOf(call.cancelled)]);
    if (!call.cancelled.aborted) return { arrival };
  } else await call.stop(operation.signal.aborted ? 'stopped by an operator' : 'cancelled by the client');
  operation.signal.throwIfAborted();
  operation.ended('cancelled');
  operation.note('the client cancelled the call or went away');
  return undefined;
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

async function withoutGateway(call: ToolCallInFlight, governor: Governor, reason: string): Promise<End> {
  if (!governor.failOpen) return { refused: away(reason) };
  governor.warn(`fail-open: a call of ${JSON.stringify(call.tool)} passes without a decision: ${reason}`);
  try {
    const arrival = await Promise.race([call.forward(), stopOf(call.cancelled)]);
    if (arrival !== undefined) return { arrival };
    await call.stop('cancelled by the client');
    return undefined;
  } catch (error) {
    if (error instanceof UpstreamGone) return { gone: error };
    throw error;
  }
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
