import type { Applying } from '../journal/index.ts';
import type { AgentId } from '../kernel/index.ts';
import type { Op } from './op.ts';
import type { OpsState } from './operations.ts';

/**
 * Whether the row of an operation surely has what a fact of this commit says. Rows are written once commits are durable. If
 * the row names an earlier entry of the same commit, the fact is applied again, which changes nothing.
 */
export function isInRow(
  { directory, ops }: Pick<OpsState, 'directory' | 'ops'>,
  id: AgentId,
  opId: string,
  { seq }: Applying,
): boolean {
  const agent = directory.find(id);
  return isRowAsOf(agent && ops.find(agent, opId), seq);
}

/** Whether an operation has a row that is true up to this entry. */
export function isRowAsOf(known: Op | undefined, seq: number): boolean {
  return known !== undefined && known.savedSeq >= seq;
}
