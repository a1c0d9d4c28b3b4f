import type { StoredEntry } from '@reeve/core';

/** Something that takes audit entries, over and over: a collector, a syslog server, a file. */
export interface Sink {
  /** How much may be sent before `confirm` must be called. Zero entries: after every batch. */
  readonly unconfirmed: { readonly entries: number; readonly ms: number };
  /** Sends entries in their order. Rejects with a `SinkError` if the target did not take them. */
  send(entries: readonly StoredEntry[], signal: AbortSignal): Promise<void>;
  /** Resolves once the target certainly has all that was sent since the last call. */
  confirm(signal: AbortSignal): Promise<void>;
  /** Forgets connections and open files. The next batch opens them anew. */
  reset(): Promise<void>;
}

/** Why a target did not take entries. */
export class SinkError extends Error {
  override readonly name = 'SinkError';
  /** The target asks not to be tried again before. */
  readonly retryAfterMs: number;
  /** Whether fewer entries at a time may help: the target objects to this batch, not to us. */
  readonly isAboutBatch: boolean;

  /** `message` is for the log and for people: it holds no address and nothing that the target has said. */
  constructor(message: string, about: { readonly retryAfterMs?: number; readonly isAboutBatch?: boolean } = {}) {
    super(message);
    this.retryAfterMs = about.retryAfterMs ?? 0;
    this.isAboutBatch = about.isAboutBatch ?? false;
  }
}

/** What went wrong in few words, by its code if it has one, because messages name addresses. */
export function faultOf(error: unknown): string {
  if (error instanceof SinkError) return error.message;
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return error instanceof Error ? error.name : 'unknown';
}
