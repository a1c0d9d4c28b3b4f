import type { Width } from '../access/authority.ts';
import { isAtLeastAsWide, widest } from '../access/authority.ts';
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
