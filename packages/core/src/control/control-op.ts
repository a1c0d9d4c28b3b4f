import { widthOf } from '../access/authority.ts';
import type { Principal } from '../access/principal.ts';
import { mayReach, requireScope } from '../access/principal.ts';
import { requireAuthority, standingOf } from '../access/require-authority.ts';
import { canonicalJson } from '../audit/canonical-json.ts';
import { draftOf } from '../audit/entry.ts';
import { redactText } from '../audit/redact.ts';
import { checkLength, longest } from '../kernel/bounds.ts';
import type { Controls } from './controls.ts';
import { ReeveError } from '../kernel/errors.ts';
import type { Op, OpRecord } from '../ops/op.ts';
import { recordOf } from '../ops/op.ts';
import { entryMembers } from './receipts.ts';
import { issueControls } from './issue-controls.ts';
import { pausedBy, widensPause } from './paused-by.ts';
import type { ControlAction, Receipt } from '../ops/receipt.ts';
import { releaseMessages } from './messages.ts';

/**
 * An operator pauses, resumes or terminates one operation. Terminating what is terminated does nothing. Pausing what a
 * narrower credential has paused takes it over: it stays paused, and only one as wide as this resumes it.
 */
export async function controlOp(
  gov: Controls,
  by: Principal,
  op: Op,
  action: ControlAction,
  reason: string,
): Promise<{ readonly op: OpRecord; readonly control: Receipt | null }> {
  requireScope(by, 'write');
  checkLength('reason', reason, longest.text);
  if (!mayReach(by, op.owner.record.id) || !gov.ops.holds(op)) {
    throw new ReeveError('op_not_found', `there is no operation "${op.opId}"`);
  }
  const takesOver = action === 'pause' && widensPause(op, widthOf(by));
  if (!takesOver && gov.ops.destination(op, action) === op.state) {
    const unchanged = recordOf(op);
    await gov.journal.committed();
    return { op: unchanged, control: null };
  }
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
  const receipts = issueControls(gov, [op], order);
  const changed = recordOf(op);
  await gov.journal.committed();
  releaseMessages(gov, receipts);
  return { op: changed, control: receipts[0] ?? null };
}

export function newControlId(gov: Controls): string {
  return `ctl_${gov.randomness.hex(12)}`;
}
