import type { CallSubject } from './call-subject.ts';
import { CallProgress } from './govern/call-progress.ts';
import { governCall } from './govern/govern-call.ts';
import type { Governor } from './govern/governor.ts';
import type { Arrival, PendingRequest } from './pending-requests.ts';
import { cancellation } from './pending-requests.ts';
import { metaOf } from './protocol/envelope.ts';
import type { Message, Request } from './protocol/message.ts';
import type { Exchange } from './transport/exchange.ts';
import type { SentHeaders } from './transport/upstream.ts';

export interface AskedCall {
  readonly request: Request;
  readonly exchange: Exchange;
  readonly runId: string;
  readonly subject: CallSubject;
}

/** What a call needs of its session. */
interface CallSession {
  track(handlers: Partial<PendingRequest>): PendingRequest;
  send(message: Message, headers: SentHeaders): Promise<void>;
  /** From now on, nothing that the server says of the call passes as it is. */
  judge(pending: PendingRequest): void;
  /** Nobody gets the answer that is still to come, or that the server repeats. */
  withhold(): void;
  /** Whether a server can repeat an answer that has come. */
  readonly canRepeat: boolean;
  stop(notification: Message): Promise<void>;
  /** Gives the client what came back, and says what the server had sent. */
  give(judged: Arrival, came: Arrival): Promise<void>;
}

/** Starts a call: first what stands against it, then the decision, then the server. */
export function startCall(
  { request, exchange, runId, subject }: AskedCall,
  governor: Governor,
  session: CallSession,
): { readonly pending: PendingRequest; readonly done: Promise<void> } {
  const { params } = request;
  const deliver = (each: Message) => exchange.deliver(each);
  const arrival = Promise.withResolvers<Arrival>();
  arrival.promise.catch(() => {});
  const cancelled = new AbortController();
  /** How the client cancelled, with its reason. */
  let told: Message | undefined;
  let isGiven = false;
  const progress = new CallProgress(metaOf(params)['progressToken'], (report) => void deliver(report));
  const pending = session.track({
    arrived: arrival.resolve,
    lost: arrival.reject,
    relay: (report) => progress.relay(report),
    cancel: (notification) => {
      told = notification;
      cancelled.abort(new Error('cancelled by the client'));
    },
  });
  const governed = async () => {
    const refusal = await subject.refusal();
    if (refusal !== undefined) return cancelled.signal.aborted ? undefined : deliver(subject.refused(refusal));
    const fault = subject.fault();
    if (fault !== undefined) return deliver(fault);
    const call = {
      subject,
      runId,
      subjectToken: exchange.person?.subjectToken,
      progress,
      cancelled: cancelled.signal,
      forward: async (args: Parameters<CallSubject['sent']>[0], isJudged: boolean) => {
        const { message, headers } = subject.sent(args);
        if (isJudged) session.judge(pending);
        await session.send(message, headers);
        return arrival.promise;
      },
      stop: (reason: string) => {
        session.withhold();
        return session.stop(told ?? cancellation(pending, reason));
      },
      answer: deliver,
      pass: async (judged: Arrival) => {
        isGiven = true;
        return session.give(judged, await arrival.promise);
      },
    };
    await governCall(call, governor);
  };
  // A server that can repeat an answer would do so later, whatever was the reason not to give it.
  const over = () => (session.canRepeat && pending.isAnswered === true && !isGiven ? session.withhold() : undefined);
  return { pending, done: governed().finally(over) };
}
