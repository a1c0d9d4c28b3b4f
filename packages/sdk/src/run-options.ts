import type { Answer } from './answer.ts';
import type { CallOptions, Limits } from './outage/retry.ts';
import type { ControlHook } from './live-operation.ts';
import { deadlineIn } from './outage/retry.ts';
import type { CheckDetails } from './prepare-check.ts';

export interface CheckOptions extends CheckDetails, CallOptions {}

export interface RunOptions extends CheckOptions {
  /**
   * How long to wait for a held action: for its approval, or for the end of a pause. Default ten minutes, longer than
   * the gateway's default wait for an approval. 0 does not wait.
   */
  readonly waitMs?: number | undefined;
  /** The action is held, and `run` begins to wait. The answer says why. */
  readonly onHeld?: ((answer: Answer) => void) | undefined;
  /**
   * Carries out a control during the work, for work that signal and checkpoints do not reach, such as another process.
   * For a pause, the work has stopped when this returns. An error tells the operator why the control is not possible.
   */
  readonly onControl?: ControlHook | undefined;
}

/** Work that has no parameter for its operation cannot know what its arguments have become. */
export function rewritable(options: RunOptions, work: (...given: never[]) => unknown): RunOptions {
  return { ...options, canRewrite: options.canRewrite ?? work.length > 0 };
}

const defaultWaitMs = 600_000;

/** How `run` waits, and what it tells meanwhile. */
export function howOf(options: RunOptions) {
  return { hook: options.onControl, onHeld: options.onHeld, wait: waitOf(options) };
}

/** How long `run` waits for a held action. */
export function waitOf({ waitMs = defaultWaitMs, signal }: RunOptions): Limits {
  const deadline = waitMs === 0 ? { totalMs: 0, at: 0 } : deadlineIn(waitMs);
  return { deadline, signal };
}
