import { setTimeout as sleep } from 'node:timers/promises';
import type { Action, Agent, CheckOptions, Operation, Reeve } from '@reeve/sdk';
import { ActionDeniedError, OperationTerminatedError, ReeveError } from '@reeve/sdk';

export interface DemoAgentId {
  readonly orgId: string;
  readonly teamId: string;
  readonly agentId: string;
}

/** What a demo agent needs to live: its client, and when to stop. */
export interface Stage {
  readonly reeve: Reeve;
  readonly signal: AbortSignal;
  /** From 0 to below 1. */
  readonly chance: () => number;
}

/** One thing that an agent does, how long it takes and what it costs. */
export interface Task {
  readonly action: Action;
  readonly summary: string;
  readonly seconds: number;
  readonly estimatedCostMicros?: number;
  /** What it really costs; what was estimated where left out. */
  readonly spentMicros?: number;
  /** Works on whatever it is told: signal and checkpoints do not reach it. */
  readonly isStubborn?: boolean;
}

/** Does one task as the SDK means it to be done: asks, waits where it is held, stops where it is told to. */
export async function perform(agent: Agent, task: Task, runId: string, signal: AbortSignal): Promise<void> {
  const { action, summary, estimatedCostMicros } = task;
  const options: CheckOptions = {
    runId,
    summary,
    signal,
    ...(estimatedCostMicros === undefined ? {} : { estimatedCostMicros }),
  };
  try {
    await agent.run(action, (operation) => work(task, operation, signal), options);
  } catch (error) {
    // Refused, stopped, or the demo is over: the agent goes on with something else.
    if (error instanceof ActionDeniedError || error instanceof OperationTerminatedError) return;
    if (signal.aborted || error instanceof ReeveError) return;
    throw error;
  }
}

async function work(
  { seconds, spentMicros, isStubborn }: Task,
  operation: Operation,
  signal: AbortSignal,
): Promise<void> {
  for (let left = seconds * 4; left > 0 && !signal.aborted; left--) {
    if (isStubborn !== true) await operation.checkpoint();
    await pause(0.25, isStubborn === true ? signal : AbortSignal.any([signal, operation.signal]));
  }
  if (spentMicros !== undefined) operation.spent(spentMicros);
}

/** Waits, but not longer than the signal lets it. */
export async function pause(seconds: number, signal: AbortSignal): Promise<void> {
  await sleep(seconds * 1000, undefined, { signal }).catch(() => undefined);
}
