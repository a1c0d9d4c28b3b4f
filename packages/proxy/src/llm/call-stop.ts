import type { CallOperation } from './settlement.ts';

/** Who ended a call in the middle: its client, an operator, or nobody's patience. */
export type StopReason = 'gone' | 'terminated' | 'timeout';

export interface StopSources {
  readonly gone: AbortSignal;
  /** Aborts when the agent's token stops working. */
  readonly revoked: AbortSignal;
  readonly operation: CallOperation;
  /** How long the other side may say nothing. */
  readonly timeoutMs: number;
}

/** Everything that can end a call in the middle, as one signal. */
export class CallStop {
  readonly #abort = new AbortController();
  readonly #sources: StopSources;
  readonly #timer: NodeJS.Timeout;
  readonly #onGone = () => this.stop('gone');
  readonly #onTerminated = () => this.stop('terminated');
  #reason: StopReason | undefined;

  constructor(sources: StopSources) {
    const { gone, revoked, operation, timeoutMs } = sources;
    this.#sources = sources;
    this.#timer = setTimeout(() => this.#overdue(), timeoutMs);
    gone.addEventListener('abort', this.#onGone);
    for (const signal of [operation.signal, revoked]) signal.addEventListener('abort', this.#onTerminated);
    if (gone.aborted) this.stop('gone');
    if (operation.signal.aborted || revoked.aborted) this.stop('terminated');
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get reason(): StopReason | undefined {
    return this.#reason;
  }

  /** The upstream has said something. */
  alive(): void {
    this.#timer.refresh();
  }

  stop(reason: StopReason): void {
    this.#reason ??= reason;
    this.#abort.abort();
  }

  /** Waits while the operation is paused, and throws if the call is stopped or no longer under control. */
  async passable(): Promise<void> {
    const { operation } = this.#sources;
    this.signal.throwIfAborted();
    const passed = operation.checkpoint();
    if (operation.state !== 'paused') return passed.catch(() => this.#lost());
    const stopped = Promise.withResolvers<never>();
    const onAbort = () => stopped.reject(new Error('the call is stopped'));
    this.signal.addEventListener('abort', onAbort, { once: true });
    try {
      await Promise.race([passed.catch(() => this.#lost()), stopped.promise]);
    } finally {
      this.signal.removeEventListener('abort', onAbort);
    }
    this.alive();
  }

  /** The call is over. */
  done(): void {
    clearTimeout(this.#timer);
    const { gone, revoked, operation } = this.#sources;
    gone.removeEventListener('abort', this.#onGone);
    for (const signal of [operation.signal, revoked]) signal.removeEventListener('abort', this.#onTerminated);
  }

  /** Nobody could stop the call any more. */
  #lost(): never {
    this.stop('terminated');
    throw new Error('the call is stopped');
  }

  #overdue(): void {
    if (this.#sources.operation.state === 'paused') this.#timer.refresh();
    else this.stop('timeout');
  }
}
