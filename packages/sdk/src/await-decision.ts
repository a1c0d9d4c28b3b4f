import type { Answer } from './answer.ts';
import { OperationTerminatedError } from './errors.ts';
import type { LiveOperation } from './live-operation.ts';
import { remainingMs } from './outage/retry.ts';
import type { Run } from './run-action.ts';
import { newerOf, nextOf, released } from './run-action.ts';

/** Asks, and waits while the action is held. An allowed action counts as running from then on, as after a check. */
export async function awaitDecision(asking: Pick<Run, 'opId' | 'ops' | 'ask' | 'wait'>): Promise<Answer> {
  const { ops, opId } = asking;
  const op = ops.open(opId);
  try {
    const answer = ops.upToDate(op, await decided(asking, op));
    if (answer.allowed) op.begin();
    return answer;
  } finally {
    ops.close(op);
  }
}

async function decided({ ops, ask, wait }: Pick<Run, 'ops' | 'ask' | 'wait'>, op: LiveOperation): Promise<Answer> {
  let answer = ops.upToDate(op, await ask(op));
  while (answer.decision === 'pending') {
    if (op.releasedBy !== undefined) return released(answer, op.releasedBy.reason);
    if (ops.lost !== undefined) throw ops.lost;
    if (ops.deaf || remainingMs(wait.deadline) === 0) return answer;
    try {
      if ((await nextOf(op, wait)) === 'ask_again') answer = newerOf(answer, ops.upToDate(op, await ask(op)));
    } catch (error) {
      if (!(error instanceof OperationTerminatedError)) throw error;
      return { ...answer, decision: 'deny', opState: 'terminated', reason: reasonOf(error, answer) };
    }
  }
  return answer;
}

function reasonOf({ reason }: OperationTerminatedError, held: Answer): string {
  return reason === '' ? held.reason : reason;
}
