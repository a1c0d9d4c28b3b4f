import type { Width } from '../access/index.ts';
import type { ControlAction, Op } from '../ops/index.ts';
import type { ScopeSuspension } from '../tenancy/index.ts';
import { isSuspended, unreadBehind } from '../tenancy/index.ts';
import type { Controls } from './controls.ts';
import { widensPause } from './issue-controls.ts';
import { saveReceipt } from './receipts.ts';

/**
 * A suspension of an agent, or of a scope, pauses operations with the cause `suspension`. They run on once nothing
 * suspends their agent any more, whichever suspension paused them. What an operator has paused stays paused.
 */

/** The suspension of a scope that keeps an operation from running, if any. */
export function heldBy(gov: Pick<Controls, 'directory'>, { owner }: Op): ScopeSuspension | undefined {
  return gov.directory.suspensions.over(owner.record.id)?.suspension;
}

/** Whether an operation was paused for a suspension. Before there were controls, nothing else could pause one. */
export function isPausedBySuspension({ state, control }: Op): boolean {
  return state === 'paused' && (control === null || control.cause === 'suspension');
}

/** Whether an operation runs on now that a suspension of its agent, or of a scope around it, is lifted. */
export function runsOn(gov: Pick<Controls, 'directory'>, op: Op): boolean {
  return isPausedBySuspension(op) && !isSuspended(gov, op.owner) && unreadBehind(gov.directory, op.owner) === undefined;
}

export function isRunning({ state }: Op): boolean {
  return state === 'running';
}

/**
 * Whether an operator's pause takes over the one that holds an operation: that of a narrower credential, or that of a
 * suspended scope. Otherwise the operation would run on once the suspension is lifted.
 */
export function takesOver(gov: Pick<Controls, 'directory'>, op: Op, action: ControlAction, width: Width): boolean {
  if (action !== 'pause') return false;
  return widensPause(op, width) || (isPausedBySuspension(op) && op.control !== null && heldBy(gov, op) !== undefined);
}

/**
 * An operator resumes an operation in a suspended scope. From now on only the suspension holds it, so it runs on once
 * that is lifted.
 */
export function deferResume(gov: Controls, { control }: Op): boolean {
  if (control === null || control.cause === 'suspension') return false;
  saveReceipt(gov, control, { ...control, cause: 'suspension' });
  return true;
}
