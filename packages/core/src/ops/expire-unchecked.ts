import { system } from '../audit/entry.ts';
import type { Operations } from './operations.ts';
import { moveOp } from './move-op.ts';

/**
 * Terminates up to `most` operations that were registered and whose check has not come in time, and returns how many. One
 * that was checked and waits for an approval has an expiry of its own.
 */
export function expireUnchecked(gov: Operations, ttlMs: number, most: number): number {
  const reason = `registered, and not checked within ${ttlMs / 1000} s`;
  let count = 0;
  for (const op of gov.ops.uncheckedFor(ttlMs)) {
    if (count === most) break;
    moveOp(gov, op, 'terminate', { actor: system, reason, details: { cause: 'unchecked' } });
    count++;
  }
  return count;
}
