import type { Op } from '../commands/op-filters.ts';

/**
 * Whether an operation is as it was before. The stream may still bring what came before a list that is known already. A
 * check that decides at once has one time for both of its changes, and nothing becomes pending again.
 */
export function isOlder(op: Op, known: Op): boolean {
  if (op.updated_at !== known.updated_at) return op.updated_at < known.updated_at;
  return op.state === 'pending' && known.state !== 'pending';
}
