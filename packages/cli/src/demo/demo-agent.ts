import { setTimeout as sleep } from 'node:timers/promises';
import type { Action, Agent, CheckOptions, Operation, Reeve } from '@reeve/sdk';
import { ActionDeniedError, OperationTerminatedError, ReeveError } from '@reeve/sdk';

export interface DemoAgentId {
  readonly orgId: string;
  readonly teamId: string;
  readonly agentId: string;
}

/** The environment of a demo agent: its client, and its stop signal. */
export interface Stage {
  readonly reeve: Reeve;
  readonly signal: AbortSignal;
  /** From 0 to below 1. */
  readonly chance: () => number;
}

/** One task of an agent, with its duration and cost. */
export interface Task {
  readonly action: Action;
  readonly summary: string;
  readonly seconds: number;
  readonly estimatedCostMicros?: number;
  /** The real cost. The estimate counts if this is left out. */
  readonly spentMicros?: number;
  /** Keeps working whatever it is told: signal and checkpoints do not reach it. */
  readonly isStubborn?: boolean;
}

/** Does one task as the SDK intends: it asks, waits while held, and stops when told to. */
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
    // Denied, stopped, or the demo is over: the agent goes on with something else.
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

/** Waits, but ends with the signal. */
export async function pause(seconds: number, signal: AbortSignal): Promise<void> {
  await sleep(seconds * 1000, undefined, { signal }).catch(() => undefined);
}
