import { requireDuration } from './validate.ts';

/** How a call is made, by the caller's choice. */
export interface CallOptions {
  /** How long this call may take, with all its retries. */
  readonly deadlineMs?: number | undefined;
  /** Gives the call up; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** A call within its limits. */
export interface Limits {
  readonly deadline: Deadline;
  readonly signal: AbortSignal | undefined;
}

/** The moment by which a caller wants to know, on the clock that never jumps. */
export interface Deadline {
  readonly totalMs: number;
  readonly at: number;
}

export function deadlineIn(ms: number): Deadline {
  requireDuration('deadlineMs', ms);
  return { totalMs: ms, at: performance.now() + ms };
}

export function remainingMs(deadline: Deadline): number {
  return Math.max(0, deadline.at - performance.now());
}
