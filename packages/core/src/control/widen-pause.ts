import type { Json } from '../audit/canonical-json.ts';
import { canonicalJson } from '../audit/canonical-json.ts';
import { draftOf } from '../audit/draft.ts';
import type { Controls } from './controls.ts';
import type { Op } from '../ops/op.ts';
import { entryMembers } from './describe-receipt.ts';
import type { Receipt } from '../ops/receipt.ts';

/**
 * Puts the pause of a wider credential in the place of the one that holds an operation. That is no transition, so nobody
 * is told of one. The entry names operation and control: a restart reads from it who holds the operation.
 */
export function widenPause(
  gov: Controls,
  op: Op,
  receipt: Receipt,
  details: { readonly [member: string]: Json },
): void {
  const { control: before } = op;
  op.control = receipt;
  gov.ops.touch(op);
  gov.journal.onFailure(() => {
    op.control = before;
  });
  gov.journal.record(
    draftOf({
      ...entryMembers(gov, receipt),
      eventType: 'OpPauseWidened',
      actor: receipt.actor,
      reason: receipt.reason === '' ? null : receipt.reason,
      payload: canonicalJson({
        ...details,
        control_id: receipt.id,
        previous_width: before?.width ?? 'unbound',
        width: receipt.width,
      }),
    }),
    op,
  );
}
