import type { Agent } from '../tenancy/agent.ts';
import { AgentDirectory } from '../tenancy/directory.ts';
import { unregisteredAgent } from '../tenancy/agent.ts';
import { agentId } from './requests.ts';

/** An agent in a directory of its own, for tests below the use cases. */
export function looseAgent(id: string): Agent {
  return new AgentDirectory().put(unregisteredAgent(agentId(id)), 0);
}
