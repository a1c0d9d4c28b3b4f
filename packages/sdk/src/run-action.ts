import type { Answer } from './answer.ts';
import type { Completion } from './completion.ts';
import { ReeveNotAllowed } from './errors.ts';
import { requireMicros } from './validate.ts';

/** An allowed action while it happens. */
export interface RunningAction {
  readonly answer: Answer;
  /** Sets what the action really cost, in micro-dollars; what was estimated where it is never called. See `usd`. */
  cost(micros: number): void;
}

export type Work<Result> = (running: RunningAction) => Result | Promise<Result>;

/** Does what was allowed and reports how it ended. The work's own error is never hidden by one of reporting. */
export async function runAction<Result>(
  answer: Answer,
  work: Work<Result>,
  report: (completion: Completion) => Promise<void>,
): Promise<Result> {
  if (!answer.allowed) throw new ReeveNotAllowed(answer);
  let actualCostMicros: number | undefined;
  const running: RunningAction = {
    answer,
    cost: (micros) => {
      actualCostMicros = requireMicros('micros', micros);
    },
  };
  let result: Result;
  try {
    result = await work(running);
  } catch (error) {
    await report({ outcome: 'failed', actualCostMicros }).catch(() => {});
    throw error;
  }
  await report({ outcome: 'succeeded', actualCostMicros });
  return result;
}
