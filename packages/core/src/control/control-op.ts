import { widthOf, requireAuthority, standingOf } from '../access/index.ts';
import type { Principal } from '../access/index.ts';
import type { Json } from '../audit/index.ts';
import { canonicalJson, draftOf, redactText } from '../audit/index.ts';
import type { Controls } from './controls.ts';
import { findOp, recordOf } from '../ops/index.ts';
import type { Op, OpRecord, ControlAction, Receipt } from '../ops/index.ts';
import { entryMembers } from './receipts.ts';
import { deferResume, heldBy, takesOver } from './held-ops.ts';
import { issueControls, pausedBy } from './issue-controls.ts';
import { registeredBy } from '../tenancy/index.ts';

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
 * takes over the pause of a narrower credential or of a suspended scope: the operation stays paused, and only a credential at
 * least as wide resumes it. Resuming in a suspended scope takes effect once that is lifted.
 */
export function controlOp(gov: Controls, { by, opId, action, reason }: ControlOp): ControlledOp {
  const op = findOp(gov, by, opId);
  const isTakenOver = takesOver(gov, op, action, widthOf(by));
  if (!isTakenOver && gov.ops.destination(op, action) === op.state) return { op: recordOf(op), control: null };
  if (action === 'resume')
    requireAuthority(standingOf(gov.keys, by, registeredBy(gov.directory, op.owner)), 'pause', pausedBy(op));
  const id = newControlId(gov);
  const why = redactText(reason);
  const suspension = action === 'resume' ? heldBy(gov, op) : undefined;
  if (suspension !== undefined) {
    if (deferResume(gov, op)) noteRequest(gov, by, op, why, { action, suspension_id: suspension.id });
    return { op: recordOf(op), control: null };
  }
  noteRequest(gov, by, op, why, { action, control_id: id });
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

function noteRequest(
  gov: Controls,
  by: Principal,
  { owner, opId }: Op,
  reason: string,
  details: { readonly [member: string]: Json },
): void {
  gov.journal.record(
    draftOf({
      ...entryMembers(gov, { agent: owner.record.id, opId }),
      eventType: 'OpControlRequested',
      actor: by.actor,
      reason: reason === '' ? null : reason,
      payload: canonicalJson({
        ...details,
        ...(by.requestId === undefined ? {} : { request_id: by.requestId }),
      }),
    }),
  );
}

export function newControlId(gov: Controls): string {
  return `ctl_${gov.randomness.hex(12)}`;
}
