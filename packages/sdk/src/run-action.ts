import type { AgentOps } from './agent-ops.ts';
import type { Answer } from './answer.ts';
import type { Completion } from './completion.ts';
import type { Deadline } from './outage/retry.ts';
import { remainingMs } from './outage/retry.ts';
import { OperationTerminatedError, ReeveInvalidRequest } from './errors.ts';
import { ActionDeniedError } from './action-denied.ts';
import type { ControlHook, LiveOperation } from './live-operation.ts';
import type { Judges, Operation, Said } from './operation.ts';
import { workedOperation } from './operation.ts';
import { ResultDenied } from './result-denied.ts';

export type Work<Result> = (operation: Operation) => Result | Promise<Result>;

/** @internal */
export interface Run {
  readonly opId: string;
  /** The arguments of a tool call, as they were given. */
  readonly args: unknown;
  readonly ops: AgentOps;
  readonly ask: (op: LiveOperation) => Promise<Answer>;
  readonly report: (completion: Completion) => Promise<void>;
  readonly results: Results;
  readonly hook: ControlHook | undefined;
  readonly onHeld?: ((answer: Answer) => void) | undefined;
  /** How long `run` waits for a held action. */
  readonly wait: { readonly deadline: Deadline; readonly signal: AbortSignal | undefined };
}

/** Who has judged what the work brings back. @internal */
export interface Results extends Judges {
  /** What to throw in place of what the work has thrown. */
  readonly judgedError: (op: LiveOperation, thrown: unknown) => Promise<unknown>;
}

type End<Result> = { readonly result: Result } | { readonly error: unknown };

const givenUp: Completion = { outcome: 'cancelled', actualCostMicros: 0, detail: 'nobody waits for it any more' };

/** Waits until the action is allowed, does it, and reports how it ended. @internal */
export async function runAction<Result>(run: Run, work: Work<Result>): Promise<Result> {
  const { ops, opId } = run;
  if (ops.find(opId)?.run === true) throw new ReeveInvalidRequest(`spanId: the operation ${opId} is being run already`);
  const op = ops.open(opId);
  op.run = true;
  try {
    const answer = await admitted(run, op);
    return await carriedOut(run, op, answer, work);
  } finally {
    op.end();
    ops.close(op);
    if (op.terminated !== undefined) await op.told();
  }
}

/** The answer that allows the action. A held action waits for its release on the control stream. */
async function admitted({ ops, opId, ask, wait, onHeld }: Run, op: LiveOperation): Promise<Answer> {
  const asked = async () => ops.upToDate(op, await ask(op));
  let answer = await asked();
  let wasHeld = false;
  try {
    while (!answer.allowed) {
      if (op.terminated !== undefined) throw op.terminated;
      if (answer.decision === 'deny') throw wasHeld ? overWhileHeld(answer) : new ActionDeniedError(answer);
      if (!wasHeld) onHeld?.(answer);
      wasHeld = true;
      if (op.releasedBy !== undefined) return released(answer, op.releasedBy.reason);
      if (ops.lost !== undefined) throw ops.lost;
      if (ops.deaf || remainingMs(wait.deadline) === 0) throw new ActionDeniedError(answer);
      if ((await nextOf(op, wait)) === 'ask_again') answer = newerOf(answer, await asked());
    }
  } catch (error) {
    // If it is released after all, it still never happens.
    if (answer.decision === 'pending') ops.ended(opId, givenUp);
    throw error;
  }
  return answer;
}

/** The same error, whether the stream or a new check reveals the end of a held action. */
function overWhileHeld(answer: Answer): Error {
  const { opId, opState, reason } = answer;
  if (opState !== 'terminated') return new ActionDeniedError(answer);
  return new OperationTerminatedError({ opId, reason, controlId: '' });
}

/** @internal */
export async function nextOf(op: LiveOperation, { deadline, signal }: Run['wait']): Promise<'changed' | 'ask_again'> {
  const timeout = AbortSignal.timeout(Math.ceil(remainingMs(deadline)));
  try {
    return await op.next(signal === undefined ? timeout : AbortSignal.any([timeout, signal]));
  } catch (error) {
    if (!timeout.aborted || error !== timeout.reason) throw error;
    return 'changed';
  }
}

/** An answer that says nothing of the operation does not end the wait: no answer at all, or a refused identity. */
export function newerOf(held: Answer, newer: Answer): Answer {
  return newer.source === 'sdk' || newer.opId === '' ? held : newer;
}

export function released(held: Answer, reason: string): Answer {
  return {
    ...held,
    decision: 'allow',
    allowed: true,
    opState: 'running',
    reason: reason === '' ? held.reason : reason,
  };
}

/** Does the allowed action. An error of reporting never hides the error of the work. */
async function carriedOut<Result>(run: Run, op: LiveOperation, answer: Answer, work: Work<Result>): Promise<Result> {
  const { results } = run;
  const { operation, said } = workedOperation(op, answer, results, run.args);
  op.hook = run.hook;
  op.begin();
  let end: End<Result>;
  try {
    end = { result: await work(operation) };
  } catch (error) {
    end = { error };
  }
  op.end();
  // The end is a checkpoint too: a paused operation can be neither reported nor continued.
  await op.unpaused();
  const ended = { ...said(), outcome: said().outcome ?? ('error' in end ? 'failed' : 'succeeded') } as const;
  // What was stopped is not judged any more. So nobody gets it.
  if (answer.judgeResult) end = op.terminated === undefined ? await judgedEnd(results, op, end, ended) : unjudged(op);
  if (op.terminated !== undefined) throw terminatedBy(op.terminated, end);
  run.ops.drop(op);
  if ('error' in end) {
    await run.report(withDenial(ended, end.error)).catch(() => {});
    throw end.error;
  }
  await run.report(completionOf(ended));
  return end.result;
}

/** The end as it may be told. The work may have had its results judged itself, and give back nothing more. */
async function judgedEnd<Result>(
  results: Results,
  op: LiveOperation,
  end: End<Result>,
  { hasJudged }: Said,
): Promise<End<Result>> {
  try {
    if ('error' in end) return { error: await results.judgedError(op, end.error) };
    if (hasJudged && end.result === undefined) return end;
    return { result: await results.judged(op, end.result) };
  } catch (error) {
    return { error };
  } finally {
    // It may have been paused or stopped meanwhile.
    await op.unpaused();
  }
}

function unjudged(op: LiveOperation): { readonly error: unknown } {
  return { error: op.terminated };
}

const longestDetail = 500;

/** The action happened, and its outcome is that of the work. The note says that nobody has got the result. */
function withDenial(ended: Said, error: unknown): Completion {
  const completion = completionOf(ended);
  if (!(error instanceof ResultDenied)) return completion;
  const denial = `the result was denied: ${error.reason}`;
  const detail = completion.detail === undefined ? denial : `${completion.detail}; ${denial}`;
  return { ...completion, detail: detail.slice(0, longestDetail) };
}

function completionOf({ actualCostMicros, detail, usage, outcome }: Said): Completion {
  return { actualCostMicros, detail, usage, outcome };
}

function terminatedBy(terminated: OperationTerminatedError, end: End<unknown>): OperationTerminatedError {
  if ('result' in end) return new OperationTerminatedError(terminated, { result: end.result });
  return end.error === terminated ? terminated : new OperationTerminatedError(terminated, { cause: end.error });
}
