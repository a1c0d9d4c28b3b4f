import type { Answer } from '../../api/send.ts';
import { agentPath } from '@reeve/contract/names';

/** An operation, as far as this page shows it. */
export type SeenOp = Answer<'getOp'>;

/** The first operation of an agent among some, except those that were known before. One that waits for its check is none. */
export function firstOf(
  ops: readonly SeenOp[],
  agent: SeenOp['agent'],
  known: ReadonlySet<string>,
): SeenOp | undefined {
  return ops
    .filter((op) => op.action_type !== null && agentPath(op.agent) === agentPath(agent) && !known.has(op.op_id))
    .toSorted((a, b) => Date.parse(a.registered_at) - Date.parse(b.registered_at))[0];
}
