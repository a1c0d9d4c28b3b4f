import { canonicalJson, draftOf, system, lineageOfId } from '../audit/index.ts';
import type { AlertEvent, EntryDraft } from '../audit/index.ts';
import type { Controls } from './controls.ts';
import type { Listened } from '../kernel/index.ts';
import { traceIdsIn } from '../kernel/index.ts';
import type { Receipt } from '../ops/index.ts';
import { unconfirmed } from '../ops/index.ts';
import type { Agent } from '../tenancy/index.ts';

/** Makes a receipt, or replaces the one before. */
export function saveReceipt(gov: Controls, before: Receipt | null, after: Receipt): void {
  gov.journal.apply({ kind: 'receipt_saved', receipt: after });
  if (after.status !== before?.status) gov.journal.onCommitted(() => gov.control.onStep(after, before));
}

type Place = Pick<EntryDraft, 'at' | 'lineage' | 'opId' | 'traceId' | 'spanId'>;

/** The time, lineage and operation of an audit entry about a control. */
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
 * Whether an agent must answer to a stop that nobody has taken back. It must if all agents must, if it has listened by the
 * time of the stop or since, or if the stop was written to one of its streams. Registering again or leaving changes none of
 * this.
 */
export function mustAnswer(gov: Controls, receipt: Receipt): boolean {
  const { agent: id, action, owed, deliveredAt } = receipt;
  if (action === 'resume') return false;
  const agent = gov.directory.find(id);
  if (agent !== undefined && isTakenBack(gov, agent, receipt)) return false;
  if (gov.control.settings.strict || owed || deliveredAt !== null) return true;
  return agent?.record.controlled === true;
}

/** The operation was resumed after it. */
function isTakenBack({ ops }: Controls, agent: Agent, { opId, sequence }: Receipt): boolean {
  const last = ops.find(agent, opId)?.control;
  return last?.action === 'resume' && last.sequence > sequence;
}

/** Leaves a receipt without an answer. The first time, the log and an alert tell of it. */
export function leaveUnconfirmed(gov: Controls, before: Receipt, after: Receipt): void {
  saveReceipt(gov, before, after);
  if (after.status !== 'unconfirmed') return;
  // That it blocks nobody any more is told, too.
  if (before.status === 'unconfirmed' && before.blocks === after.blocks) return;
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
  gov.journal.apply(alertOf(gov, after, 'control_unconfirmed'));
}

/**
 * Marks up to `most` receipts that were not acknowledged in time, and returns how many. An agent that owes an answer to
 * a stop is blocked until it gives one. It has the whole time while the gateway listens.
 */
export function timeOutControls(gov: Controls, most: number, { since }: Listened): number {
  let count = 0;
  for (const receipt of gov.control.overdue(since)) {
    if (count === most) break;
    leaveUnconfirmed(gov, receipt, unconfirmed(receipt, 'not acknowledged in time', mustAnswer(gov, receipt)));
    count++;
  }
  return count;
}
