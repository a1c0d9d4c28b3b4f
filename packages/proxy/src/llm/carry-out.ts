import type { CallEnd, CallOperation } from './settlement.ts';
import { settle } from './settlement.ts';
import { UpstreamFailure } from './call-upstream.ts';
import { CallStop } from './call-stop.ts';
import { forwardAnswer } from './forward-answer.ts';
import type { ModelCall } from './model-call.ts';
import { Refusal } from './refusal.ts';
import { abandon, interrupt } from './interrupt-call.ts';
import { maskPrompt } from './results/mask-prompt.ts';

export interface UpstreamContext {
  readonly upstreamTimeoutMs: number;
}

/**
 * Does an allowed call: sends it to its upstream, passes the answer on, and says what it used. It answers the client in
 * any case, and does not throw.
 */
export async function carryOut(call: ModelCall, operation: CallOperation, context: UpstreamContext): Promise<void> {
  const { gone, revoked } = call;
  const stop = new CallStop({ gone, revoked, operation, timeoutMs: context.upstreamTimeoutMs });
  let end: CallEnd;
  try {
    await stop.passable();
    if (operation.answer.judgePrompt) {
      await maskPrompt(call, operation);
      await stop.passable();
    }
    const send = call.outgoing(call.body.length);
    const answer = await send(call.body.take(), stop.signal);
    stop.alive();
    call.body.release();
    call.promptRoom.release();
    end = await forwardAnswer(call, answer, stop, operation);
  } catch (error) {
    end = broken(call, operation, stop, error);
  } finally {
    stop.done();
    call.body.release();
    call.promptRoom.release();
  }
  settle(operation, call.asked, call.passed, call.route.dialect.isFree === true ? { ...end, isFree: true } : end);
}

/** The call ended in the middle. The client learns it as far as the protocol permits. */
function broken(call: ModelCall, operation: CallOperation, stop: CallStop, error: unknown): CallEnd {
  const { usage } = call.reader;
  const isFree = !call.body.isTaken || (error instanceof UpstreamFailure && !error.mayHaveArrived);
  switch (stop.reason) {
    case 'gone':
      return { outcome: 'cancelled', usage, isFree, note: 'the client went away' };
    case 'terminated': {
      const why: unknown = operation.signal.reason;
      const reason =
        why instanceof Error && 'reason' in why ? String(why.reason) : 'the agent is not accepted any more';
      interrupt(
        call,
        new Refusal('operation_terminated', `Stopped: ${reason === '' ? 'by an operator' : reason}`, call.opId),
      );
      return { outcome: 'cancelled', usage, isFree, note: 'stopped in the middle' };
    }
    case 'timeout':
      abandon(call, new Refusal('upstream_timeout', 'the upstream takes too long', call.opId));
      return { outcome: 'failed', usage, isFree, note: 'the upstream took too long' };
    case undefined: {
      if (error instanceof Refusal) {
        abandon(call, error);
        return { outcome: 'failed', usage, isFree, note: error.message };
      }
      const why = error instanceof UpstreamFailure ? error.message : 'its answer broke off';
      abandon(call, new Refusal('upstream_unavailable', `the upstream cannot be reached: ${why}`, call.opId));
      return { outcome: 'failed', usage, isFree, note: `the upstream failed: ${why}` };
    }
  }
}
