import { requireDuration } from './validate.ts';

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
