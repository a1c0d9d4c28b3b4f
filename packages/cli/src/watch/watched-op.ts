import { agentText } from '../command-line/agent-path.ts';
import type { Op } from '../commands/op-filters.ts';

/** Identifies an operation across all agents, because two may share trace and span. Also its address. */
export function opKey({ agent, op_id: id }: Pick<Op, 'agent' | 'op_id'>): string {
  return `${agentText(agent)}/${id}`;
}

/**
 * Whether an operation is as it was before. The stream may still bring what came before a list that is known already. A
 * check that decides at once has one time for both of its changes, and nothing becomes pending again.
 */
export function isOlder(op: Op, known: Op): boolean {
  if (op.updated_at !== known.updated_at) return op.updated_at < known.updated_at;
  return op.state === 'pending' && known.state !== 'pending';
}
