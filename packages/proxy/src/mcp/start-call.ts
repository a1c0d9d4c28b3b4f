import { numberFaultIn } from '@reeve/contract/exact-numbers';
import { denied } from '@reeve/sdk/mcp';
import type { ListPage, ToolCatalog } from './lock/tool-catalog.ts';
import { refusedResult } from './govern/answers.ts';
import { CallProgress } from './govern/call-progress.ts';
import { governCall } from './govern/govern-call.ts';
import type { Governor } from './govern/governor.ts';
import type { Arrival, PendingRequest } from './pending-requests.ts';
import { cancellation, passOn } from './pending-requests.ts';
import { noNames, twinIn } from './protocol/argument-names.ts';
import { metaOf } from './protocol/envelope.ts';
import { contradictsParams, headersOfParams } from './protocol/mcp-headers.ts';
import type { Message, Request } from './protocol/message.ts';
import type { Exchange } from './transport/exchange.ts';
import { errorMessage, writtenArguments } from './protocol/message.ts';
import { isObject } from './protocol/written-json.ts';

export interface AskedCall {
  readonly request: Request;
  readonly message: Message;
  readonly exchange: Exchange;
  readonly tool: string;
  /** Lists the tools of the server; undefined before it can be asked. */
  readonly list: ListPage | undefined;
  readonly runId: string;
  /** Why the server cannot be called for this caller, or undefined. */
  readonly denial: string | undefined;
}

/** What a call needs of its session. */
interface CallSession {
  track(handlers: Partial<PendingRequest>): PendingRequest;
  send(headers: Readonly<Record<string, string>>): Promise<void>;
  /** Nobody gets the answer, now or when the server repeats it. */
  withhold(): void;
  stop(notification: Message): Promise<void>;
}

/** No check holds a longer one, and matching it against globs could take forever. */
const longestName = 512;

/** The tool that a call names. Undefined if it names none. */
export function toolOf(params: unknown): string | undefined {
  const name = isObject(params) ? params['name'] : undefined;
  return typeof name === 'string' && name.length <= longestName ? name : undefined;
}

/** Starts a call of a tool: first the lock, then the decision, then the server. */
export function startCall(
  { request, message, exchange, tool, list, runId, denial }: AskedCall,
  governor: Governor,
  catalog: ToolCatalog,
  session: CallSession,
): { readonly pending: PendingRequest; readonly done: Promise<void> } {
  const { id, params } = request;
  const { headers } = exchange;
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
  const isStateless = pending.envelope !== undefined;
  const args = isObject(params) ? params['arguments'] : undefined;
  const governed = async () => {
    const refusal = denial ?? (await catalog.refusal(tool, list));
    if (refusal !== undefined) {
      const policyRule = denial === undefined ? 'lock' : 'auth';
      const refused = denied({ reason: refusal, policyRule, opId: '' });
      return cancelled.signal.aborted ? undefined : deliver(refusedResult(id, refused, isStateless));
    }
    const known = catalog.find(tool);
    const fault = numberFaultIn(writtenArguments(message) ?? '');
    if (fault !== undefined) return deliver(errorMessage(id, -32_602, `in the arguments, ${fault}`));
    if (isStateless && headers !== undefined && contradictsParams(headers, known?.headers ?? [], args)) {
      return deliver(errorMessage(id, -32_020, 'the headers Mcp-Param-… do not say what the arguments say'));
    }
    const names = known === undefined ? noNames : known.names;
    if (names === undefined) {
      return deliver(errorMessage(id, -32_602, 'the tool declares more arguments than can be told apart'));
    }
    const twin = twinIn(args, names);
    if (twin !== undefined) {
      const text = `${JSON.stringify(twin.slice(0, 64))} differs from another argument only in upper and lower case`;
      return deliver(errorMessage(id, -32_602, text));
    }
    const call = {
      id,
      tool,
      args,
      annotations: known?.annotations,
      isStateless,
      runId,
      subjectToken: exchange.person?.subjectToken,
      progress,
      cancelled: cancelled.signal,
      refusal: () => catalog.refusal(tool, list),
      forward: async () => {
        await session.send(headersOfParams(known?.headers ?? [], args));
        return arrival.promise;
      },
      stop: (reason: string) => {
        session.withhold();
        return session.stop(told ?? cancellation(pending, reason));
      },
      answer: deliver,
      pass: (arrived: Arrival) => {
        isGiven = true;
        return passOn(id, arrived);
      },
    };
    await governCall(call, governor);
  };
  // A server that can repeat an answer would do so later, whatever was the reason not to give it.
  const over = () => (pending.isAnswered === true && !isGiven ? session.withhold() : undefined);
  return { pending, done: governed().finally(over) };
}
