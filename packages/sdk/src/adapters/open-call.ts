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
  /** Runs a function as a part of the call, so that it finds the operation. */
  within<Result>(run: () => Result): Result;
  /** Ends the call, and reports it. Throws `OperationTerminatedError` if an operator stopped it meanwhile. */
  end(failure?: { readonly error: unknown }): Promise<void>;
}

/** As `governCall`, for work that outlives the call which starts it. A refusal is thrown. */
export async function openCall<Opened>(
  agent: Agent,
  governed: GovernedAction,
  open: (signal: AbortSignal, operation: Operation) => Opened | Promise<Opened>,
): Promise<OpenCall<Opened>> {
  let finish: (failure?: { readonly error: unknown }) => void = () => {};
  const over = new Promise<void>((resolve, reject) => {
    finish = (failure) => (failure === undefined ? resolve() : reject(failure.error));
  });
  over.catch(() => {});
  return new Promise((resolve, reject) => {
    const whole = governCall(agent, governed, async (signal, operation) => {
      const opened = await open(signal, operation);
      const end = async (failure?: { readonly error: unknown }) => {
        finish(failure);
        await whole;
      };
      resolve({ opened, operation, within: AsyncLocalStorage.snapshot(), end });
      await over;
    });
    whole.then((outcome) => {
      if ('refusal' in outcome) reject(refusalError(outcome.refusal));
    }, reject);
  });
}

/** Passes on the parts of an open call. Each waits while the operation is paused. However it ends, the call ends with it. */
export async function* partsOf<Part>(
  { operation, within, end }: OpenCall<unknown>,
  parts: AsyncIterable<Part>,
  see: (part: Part) => void,
): AsyncGenerator<Part, void, undefined> {
  const source = parts[Symbol.asyncIterator]();
  let failure: { readonly error: unknown } | undefined;
  let isWhole = false;
  try {
    for (;;) {
      const { done, value } = await orStopped(
        within(() => source.next()),
        operation.signal,
      );
      if (done === true) break;
      await operation.checkpoint();
      see(value);
      yield value;
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
    await end(failure);
  }
}

/** The value, unless an operator stops the work before. */
export function orStopped<Value>(value: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason as Error);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    value.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
