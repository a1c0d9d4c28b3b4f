import { AsyncLocalStorage } from 'node:async_hooks';
import type { Agent } from '../agent.ts';
import type { Operation } from '../operation.ts';
import type { GovernedAction } from './govern-call.ts';
import { governCall } from './govern-call.ts';
import { refusalError } from './refusal.ts';

/** A call that has begun, and goes on while its caller reads what comes of it. */
export interface OpenCall<Opened> {
  readonly opened: Opened;
  readonly operation: Operation;
  /** Fires on a termination, and when nobody wants the result any more. The call is over then, whoever still reads. */
  readonly signal: AbortSignal;
  /** Runs a function as a part of the call, so that it finds the operation. */
  within<Result>(run: () => Result): Result;
  /**
   * Ends the call, reports it, and gives its result as it may be read. Throws `OperationTerminatedError` if an operator stopped
   * it meanwhile.
   */
  end(failure?: { readonly error: unknown }, result?: unknown): Promise<unknown>;
  /** Ends the call for a reader who leaves, also in the middle of a part. */
  leave(): Promise<void>;
}

/** As `governCall`, for work that outlives the call which starts it. A refusal is thrown. */
export async function openCall<Opened>(
  agent: Agent,
  governed: GovernedAction,
  open: (signal: AbortSignal, operation: Operation) => Opened | Promise<Opened>,
): Promise<OpenCall<Opened>> {
  const leaving = new AbortController();
  const { signal: wanted = leaving.signal } = governed.details;
  const details = { ...governed.details, signal: AbortSignal.any([wanted, leaving.signal]) };
  let finish: OpenCall<Opened>['end'] = async () => {};
  const over = new Promise<unknown>((resolve, reject) => {
    finish = async (failure, result) => (failure === undefined ? resolve(result) : reject(failure.error));
  });
  over.catch(() => {});
  return new Promise((resolve, reject) => {
    const whole = governCall(agent, { ...governed, details }, async (signal, operation) => {
      const opened = await open(signal, operation);
      // A reader that waits elsewhere must not keep a stopped call open.
      whenAborted(signal, () => void finish({ error: signal.reason }));
      const end = async (failure?: { readonly error: unknown }, result?: unknown) => {
        void finish(failure, result);
        const outcome = await whole;
        if ('refusal' in outcome) throw refusalError(outcome.refusal);
        return outcome.result;
      };
      const leave = async () => {
        leaving.abort();
        await whole.catch(() => {});
      };
      resolve({ opened, operation, signal, within: AsyncLocalStorage.snapshot(), end, leave });
      return over;
    });
    whole.then((outcome) => {
      if ('refusal' in outcome) reject(refusalError(outcome.refusal));
    }, reject);
  });
}

/**
 * Passes on the parts of an open call. Each waits while the operation is paused. However it ends, the call ends with it. Where
 * results are judged, only the last one is passed on, as it may be read: it is the result.
 */
export async function* partsOf<Part>(
  { operation, signal, within, end }: OpenCall<unknown>,
  parts: AsyncIterable<Part>,
  see: (part: Part) => void,
): AsyncGenerator<Part, void, undefined> {
  const source = parts[Symbol.asyncIterator]();
  let failure: { readonly error: unknown } | undefined;
  let isWhole = false;
  let last: Part | undefined;
  let judged: unknown;
  const isJudged = operation.answer.judgeResult;
  try {
    for (;;) {
      const { done, value } = await orStopped(
        within(() => source.next()),
        signal,
      );
      if (done === true) break;
      await operation.checkpoint();
      see(value);
      last = value;
      if (!isJudged) yield value;
    }
    isWhole = true;
  } catch (error) {
    failure = { error };
  } finally {
    if (!isWhole) {
      if (failure === undefined) operation.ended('cancelled');
      // Not awaited: a source that does not heed its signal must not hold up the end.
      void Promise.resolve(source.return?.()).catch(() => {});
    }
    // Throws the failure, or the termination that caused it.
    judged = await end(failure, last);
  }
  if (isJudged) yield judged as Part;
}

/** The value, unless the signal fires before. */
export function orStopped<Value>(value: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason as Error);
    whenAborted(signal, stop);
    value.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

function whenAborted(signal: AbortSignal, act: () => void): void {
  if (signal.aborted) act();
  else signal.addEventListener('abort', act, { once: true });
}
