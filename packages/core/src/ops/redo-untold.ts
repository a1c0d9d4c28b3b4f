import type { Applying } from '../journal/index.ts';
import { isInRow } from './in-row.ts';
import type { OpRecord } from './op.ts';
import type { OpsState } from './operations.ts';

/**
 * What no entry says of an operation: what rules have changed in its arguments. Entries name the digest of what came of
 * that, so the facts of a commit that is restored from its entries must agree.
 */
export function redoUntold(state: OpsState, { agent: id, opId, rewrite }: OpRecord, how: Applying): void {
  const agent = state.directory.find(id);
  const op = agent && state.ops.find(agent, opId);
  if (op === undefined || rewrite === null || op.rewrite?.digest !== rewrite.digest) return;
  if (!isInRow(state, id, opId, how)) state.ops.change(op, { rewrite });
}
