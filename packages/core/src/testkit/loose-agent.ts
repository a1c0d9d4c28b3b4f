import type { Agent } from '../tenancy/agent.ts';
import { AgentDirectory } from '../tenancy/directory.ts';
import { agentId } from './requests.ts';

/** An agent of a directory of its own, for tests below the use cases. */
export function looseAgent(id: string): Agent {
  return new AgentDirectory().put(
    {
      id: agentId(id),
      tokenHash: null,
      name: '',
      framework: '',
      version: '',
      parent: null,
      metadata: {},
      toolNames: [],
      registeredAt: 0,
      suspension: null,
      controlled: false,
      registeredWith: [],
    },
    0,
  );
}
