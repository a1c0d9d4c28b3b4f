import type { CallOptions, Limits } from './outage/retry.ts';
import type { ControlHook } from './live-operation.ts';
import { deadlineIn } from './outage/retry.ts';
import type { CheckDetails } from './prepare-check.ts';

export interface CheckOptions extends CheckDetails, CallOptions {}

export interface RunOptions extends CheckOptions {
  /**
   * How long to wait for an action that is held: for its approval, or for the end of a pause. Default ten minutes, which is
   * longer than the gateway lets an approval wait by default; 0 does not wait.
   */
  readonly waitMs?: number | undefined;
  /**
   * Carries out a control while the work is under way, for work that signal and checkpoints do not reach, such as
   * another process. When it has returned for a pause, the work has stopped. An error tells the operator that it cannot be done, and why.
   */
  readonly onControl?: ControlHook | undefined;
}

const defaultWaitMs = 600_000;

/** How long a held action is waited for. */
export function waitOf({ waitMs = defaultWaitMs, signal }: RunOptions): Limits {
  const deadline = waitMs === 0 ? { totalMs: 0, at: 0 } : deadlineIn(waitMs);
  return { deadline, signal };
}
