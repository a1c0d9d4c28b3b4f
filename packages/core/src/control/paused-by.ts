import type { Width } from '../access/authority.ts';
import { isAtLeastAsWide, widest } from '../access/authority.ts';
import type { Json } from '../audit/canonical-json.ts';
import { canonicalJson } from '../audit/canonical-json.ts';
import { draftOf } from '../audit/entry.ts';
import type { Controls } from './controls.ts';
import { entryMembers } from './receipts.ts';
import type { Op } from '../ops/op.ts';
import type { Receipt } from '../ops/receipt.ts';

/**
 * How wide the credential was that keeps an operation paused: that of its pause, or that of its agent's suspension where
 * it is wider. A pause of which nothing is noted counts as the operator's.
 */
export function pausedBy({ control, owner }: Op): Width {
  const pause = widthOfPause(control);
  const { suspension } = owner.record;
  return suspension === null ? pause : widest(pause, suspension.width);
}

/**
 * Whether a pause by a credential of this width takes over an operation that a narrower one has paused. Otherwise who
 * pauses first could keep the wider one from holding it. A suspension is no pause here: once it is lifted, the pause alone
 * holds.
 */
export function widensPause({ state, control }: Op, width: Width): boolean {
  return state === 'paused' && !isAtLeastAsWide(widthOfPause(control), width);
}

function widthOfPause(control: Receipt | null): Width {
  return control?.width ?? 'unbound';
}

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
