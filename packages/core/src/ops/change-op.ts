import { canonicalJson } from '../audit/canonical-json.ts';
import type { Json } from '../audit/canonical-json.ts';
import { draftOf } from '../audit/draft.ts';
import type { Actor } from '../audit/entry.ts';
import type { Approval } from '../approvals/approval.ts';
import { endApprovalOf } from '../approvals/end-approval-of.ts';
import type { Receipt } from './receipt.ts';
import { closeBooks } from './settle-op.ts';
import type { Governance } from '../governance.ts';
import type { OpTrigger } from './lifecycle.ts';
import { isOver } from './lifecycle.ts';
import type { Op } from './op.ts';
import { opsChange } from './ops-change.ts';

/**
 * A transition that no decision causes: by an operator, by the agent's report, by expiry. It writes one
 * `OpStateChanged` and publishes one event; where nothing changes it writes and publishes nothing.
 */
export function changeOp(
  gov: Governance,
  op: Op,
  trigger: OpTrigger,
  by: {
    readonly actor: Actor;
    readonly reason: string;
    readonly details?: { readonly [member: string]: Json };
    /** The control that it is done for, where there is one. */
    readonly control?: Receipt;
    /** The approval whose outcome it is, where it is one. */
    readonly approval?: Approval;
  },
): void {
  const { state: from, reason, control } = op;
  const undo = gov.ops.move(op, trigger);
  if (undo === undefined) return;
  if (trigger === 'terminate') op.reason = by.reason === '' ? 'operation is terminated' : by.reason;
  if (trigger === 'allow') op.reason = by.reason;
  op.control = by.control ?? control;
  const booked = closeBooks(gov, op, trigger);
  gov.journal.onFailure(() => {
    undo();
    op.reason = reason;
    op.control = control;
  });
  gov.journal.publish(booked === undefined ? opsChange(op) : { ...opsChange(op), booked });
  const [traceId = '', spanId = ''] = op.opId.split(':');
  gov.journal.record(
    draftOf({
      at: op.updatedAt,
      eventType: 'OpStateChanged',
      lineage: op.owner.lineage,
      actor: by.actor,
      opId: op.opId,
      traceId,
      spanId,
      reason: by.reason === '' ? null : by.reason,
      payload: canonicalJson({
        ...by.details,
        ...(booked === undefined ? {} : { booked }),
        cost_micros: op.costMicros,
        from,
        to: op.state,
        trigger,
      }),
    }),
    op,
  );
  if (isOver(op.state) && by.approval === undefined) endApprovalOf(gov, op, by);
}
