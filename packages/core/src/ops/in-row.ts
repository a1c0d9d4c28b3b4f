import type { Redoing } from '../journal/index.ts';
import type { AgentId } from '../kernel/index.ts';
import type { OpsState } from './operations.ts';

/**
 * Whether the row of an operation surely has what a fact of this commit says. Rows are written once commits are durable. If
 * the row names an earlier entry of the same commit, the fact is applied again, which changes nothing.
 */
export function isInRow(
  { directory, ops }: Pick<OpsState, 'directory' | 'ops'>,
  id: AgentId,
  opId: string,
  { seq }: Redoing,
): boolean {
  const agent = directory.find(id);
  const known = agent && ops.find(agent, opId);
  return known !== undefined && known.savedSeq >= seq;
}
