import type { Principal } from '../access/principal.ts';
import { mayReach } from '../access/principal.ts';
import type { Agents } from './tenancy.ts';
import { ReeveError } from '../kernel/errors.ts';
import type { Agent } from './agent.ts';
import { isRegistered } from './agent.ts';
import type { AgentId } from '../kernel/agent-id.ts';
import { agentKey } from '../kernel/agent-id.ts';

/** An agent that the caller may see. To a tenant, another tenant's agent does not exist. */
export function findAgent(gov: Agents, by: Principal, id: AgentId): Agent {
  const agent = mayReach(by, id) ? gov.directory.find(id) : undefined;
  if (agent !== undefined && isRegistered(agent)) return agent;
  throw new ReeveError('agent_not_found', `there is no agent "${agentKey(id)}"`);
}
