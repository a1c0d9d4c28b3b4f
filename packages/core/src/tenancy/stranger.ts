import type { AgentRecord } from './agent.ts';
import type { AgentId } from '../kernel/agent-id.ts';

/** An agent of which nothing is known but its ids. */
export function strangerOf(id: AgentId): AgentRecord {
  return {
    id,
    tokenHash: null,
    name: '',
    framework: '',
    version: '',
    parent: null,
    metadata: {},
    toolNames: [],
    registeredAt: 0,
    registeredWith: [],
    suspension: null,
    controlled: false,
  };
}
