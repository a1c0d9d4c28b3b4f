import type { Width } from '../access/authority.ts';
import { widest } from '../access/authority.ts';
import type { Op } from '../ops/op.ts';

/**
 * How wide the credential was that keeps an operation paused: that of its pause, or that of its agent's suspension where
 * it is wider. A pause of which nothing is noted counts as the operator's.
 */
export function pausedBy({ control, owner }: Op): Width {
  const pause = control?.width ?? 'unbound';
  const { suspension } = owner.record;
  return suspension === null ? pause : widest(pause, suspension.width);
}
