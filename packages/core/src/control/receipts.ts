import { canonicalJson, draftOf, system, lineageOfId } from '../audit/index.ts';
import type { AlertEvent, EntryDraft } from '../audit/index.ts';
import type { ControlSnapshot } from './control-slice.ts';
import type { Controls } from './controls.ts';
import { traceIdsIn } from '../kernel/index.ts';
import type { Receipt } from '../ops/index.ts';
import { unconfirmed } from '../ops/index.ts';

/** Puts a receipt in the place of what it was, in memory and in this turn. */
export function saveReceipt(gov: Controls, before: Receipt, after: Receipt): void {
  gov.control.place(after);
  gov.journal.onFailure(() => gov.control.place(before));
  gov.journal.write({ kind: 'receipt_saved', receipt: after });
  if (after.status !== before.status) gov.control.onStep(after, before);
}

type Place = Pick<EntryDraft, 'at' | 'lineage' | 'opId' | 'traceId' | 'spanId'>;

/** When, whose and about which operation an entry about a control is. */
export function entryMembers(gov: Controls, { agent, opId }: Pick<Receipt, 'agent' | 'opId'>): Place {
  const lineage = gov.directory.find(agent)?.lineage ?? lineageOfId(agent);
  return { at: gov.clock.now(), lineage, opId, ...traceIdsIn(opId) };
}

export function alertOf(gov: Controls, receipt: Receipt, alert: 'control_unconfirmed' | 'control_failed'): AlertEvent {
  return {
    type: 'audit_alert',
    at: gov.clock.now(),
    agent: receipt.agent,
    alert,
    details: {
      op_id: receipt.opId,
      control_id: receipt.id,
      action: receipt.action,
      sequence: receipt.sequence,
      detail: receipt.detail,
      blocked: receipt.blocks,
    },
  };
}

/**
 * Whether an agent must answer to a stop: where all must, where it had listened when the stop was asked for or has since,
 * or where the stop was written to a stream of it. Registering again or leaving takes none of this back.
 */
export function owesAnswer(gov: Controls, receipt: Receipt): boolean {
  const { agent, action, owed, deliveredAt } = receipt;
  if (action === 'resume') return false;
  if (gov.control.settings.strict || owed || deliveredAt !== null) return true;
  return gov.directory.find(agent)?.record.controlled === true;
}

/** A receipt goes without an answer: on record and as an alert, the first time. */
export function leaveUnconfirmed(gov: Controls, before: Receipt, after: Receipt): void {
  saveReceipt(gov, before, after);
  if (after.status !== 'unconfirmed' || before.status === 'unconfirmed') return;
  gov.journal.record(
    draftOf({
      ...entryMembers(gov, after),
      eventType: 'OpControlUnconfirmed',
      actor: system,
      reason: after.detail,
      payload: canonicalJson({
        action: after.action,
        blocked: after.blocks,
        control_id: after.id,
        sequence: after.sequence,
      }),
    }),
  );
  gov.journal.publish(alertOf(gov, after, 'control_unconfirmed'));
}

/**
 * Marks up to `most` receipts that were not acknowledged in time, and returns how many. An agent that could have
 * acknowledged a stop, because it has listened since it was registered, is not answered any more until it does.
 */
export function timeOutControls(gov: Controls, most: number): number {
  let count = 0;
  for (const receipt of gov.control.overdue()) {
    if (count === most) break;
    leaveUnconfirmed(gov, receipt, unconfirmed(receipt, 'not acknowledged in time', owesAnswer(gov, receipt)));
    count++;
  }
  return count;
}

/**
 * Brings controls back: the numbers of messages, what waits for an acknowledgement, what blocks, and what was asked for
 * lately. The time to acknowledge starts anew, as nobody could have done so while the gateway was gone.
 */
export function restoreControl(gov: Controls, snapshot: ControlSnapshot): void {
  for (const sequence of snapshot.controlSequences) gov.control.restoreSequence(sequence);
  const receipts = snapshot.receipts.toSorted((a, b) => a.sequence - b.sequence);
  for (const receipt of receipts) gov.control.place(receipt);
  const bulks = snapshot.bulkControls.toSorted((a, b) => a.requestedAt - b.requestedAt);
  for (const bulk of bulks) gov.control.remembered.restore(bulk);
}
