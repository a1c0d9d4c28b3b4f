import { canonicalJson } from '../audit/canonical-json.ts';
import { draftOf } from '../audit/draft.ts';
import { system } from '../audit/entry.ts';
import type { Controls } from './controls.ts';
import { alertOf, entryMembers } from './describe-receipt.ts';
import type { Receipt } from '../ops/receipt.ts';
import { saveReceipt } from './save-receipt.ts';

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
