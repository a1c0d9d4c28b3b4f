import { agentText } from '../command-line/agent-path.ts';
import type { Op } from '../commands/op-filters.ts';

/** Identifies an operation across all agents, because two may share trace and span. Also its address. */
export function opKey({ agent, op_id: id }: Pick<Op, 'agent' | 'op_id'>): string {
  return `${agentText(agent)}/${id}`;
}
