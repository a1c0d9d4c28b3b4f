import { widthOf, requireAuthority, standingOf } from '../access/index.ts';
import type { Principal } from '../access/index.ts';
import { canonicalJson, draftOf, redactText } from '../audit/index.ts';
import type { Controls } from './controls.ts';
import { findOp, recordOf } from '../ops/index.ts';
import type { OpRecord, ControlAction, Receipt } from '../ops/index.ts';
import { entryMembers } from './receipts.ts';
import { issueControls, pausedBy, widensPause } from './issue-controls.ts';

export interface ControlOp {
  readonly by: Principal;
  /** `trace:span`, or `org/team/agent/trace:span`. */
  readonly opId: string;
  readonly action: ControlAction;
  readonly reason: string;
}

export interface ControlledOp {
  readonly op: OpRecord;
  /** Null if nothing had to be done. */
  readonly control: Receipt | null;
}

/**
 * An operator pauses, resumes or terminates one operation. Terminating a terminated operation does nothing. A pause
 * takes over the pause of a narrower credential: the operation stays paused, and only a credential at least as wide
 * resumes it.
 */
export function controlOp(gov: Controls, { by, opId, action, reason }: ControlOp): ControlledOp {
  const op = findOp(gov, by, opId);
  const takesOver = action === 'pause' && widensPause(op, widthOf(by));
  if (!takesOver && gov.ops.destination(op, action) === op.state) return { op: recordOf(op), control: null };
  if (action === 'resume') requireAuthority(standingOf(gov.keys, by, op.owner.record), 'pause', pausedBy(op));
  const id = newControlId(gov);
  const why = redactText(reason);
  gov.journal.record(
    draftOf({
      ...entryMembers(gov, { agent: op.owner.record.id, opId: op.opId }),
      eventType: 'OpControlRequested',
      actor: by.actor,
      reason: why === '' ? null : why,
      payload: canonicalJson({
        action,
        control_id: id,
        ...(by.requestId === undefined ? {} : { request_id: by.requestId }),
      }),
    }),
  );
  const order = {
    by,
    action,
    reason: why,
    cause: 'operator',
    width: widthOf(by),
    bulkId: null,
    nextId: () => id,
  } as const;
  const [receipt = null] = issueControls(gov, [op], order);
  return { op: recordOf(op), control: receipt };
}

export function newControlId(gov: Controls): string {
  return `ctl_${gov.randomness.hex(12)}`;
}
