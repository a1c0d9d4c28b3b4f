import { agentText } from '../command-line/agent-path.ts';
import type { Op } from '../commands/op-filters.ts';

/** One operation among all agents' : trace and span alone may be the same for two. Also how it is addressed. */
export function opKey({ agent, op_id: id }: Pick<Op, 'agent' | 'op_id'>): string {
  return `${agentText(agent)}/${id}`;
}
