import type { Agent } from '../tenancy/agent.ts';
import { AgentDirectory } from '../tenancy/directory.ts';
import { strangerOf } from '../tenancy/stranger.ts';
import { agentId } from './requests.ts';

/** An agent of a directory of its own, for tests below the use cases. */
export function looseAgent(id: string): Agent {
  return new AgentDirectory().put(strangerOf(agentId(id)), 0);
}
