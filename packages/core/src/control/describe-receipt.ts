import type { EntryDraft } from '../audit/entry.ts';
import type { Controls } from './controls.ts';
import type { AlertEvent } from '../audit/alert.ts';
import { lineageOfId } from '../audit/lineage.ts';
import type { Receipt } from '../ops/receipt.ts';
import { traceIdsIn } from '../kernel/op-id.ts';

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
