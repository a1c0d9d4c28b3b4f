import type { Principal } from '../access/principal.ts';
import { mayReach } from '../access/principal.ts';
import type { AgentId } from '../kernel/agent-id.ts';
import { agentKey, parseAgentId } from '../kernel/agent-id.ts';
import { announce } from '../kernel/announce.ts';
import { ReeveError } from '../kernel/errors.ts';
import type { Agent } from './agent.ts';
import { isRegistered } from './agent.ts';
import { identify, provenAgent } from './identify.ts';
import type { Agents, Tenancy } from './tenancy.ts';

/** An agent that the caller may see. To a tenant, another tenant's agent does not exist. */
export function findAgent(gov: Agents, by: Principal, id: AgentId): Agent {
  const agent = mayReach(by, id) ? gov.directory.find(id) : undefined;
  if (agent !== undefined && isRegistered(agent)) return agent;
  throw new ReeveError('agent_not_found', `there is no agent "${agentKey(id)}"`);
}

/** The registered agent behind a call other than a check. One that is suspended or blocked may still report and hear. */
export function authenticateAgent(gov: Tenancy, claim: AgentId | undefined, token: string): Agent {
  const id = parseAgentId(claim);
  const identity = identify(gov.directory, gov.sha256, id, token);
  const agent = provenAgent(identity);
  if (agent === undefined) throw new ReeveError('unauthenticated', identity.known ? '' : identity.reason);
  touchAgent(gov, agent);
  return agent;
}

/** Why a stream is ended whose credential is no longer one. */
export function credentialEnded(): ReeveError {
  return new ReeveError('unauthenticated', 'the credential token has been replaced, or the agent has left');
}

/** Records that an agent is alive. On every decision's path, so it does next to nothing. */
export function touchAgent(
  { clock, reactions }: Pick<Tenancy, 'clock' | 'reactions'>,
  agent: Agent,
  at: number = clock.elapsed(),
): void {
  agent.aliveAt = at;
  if (agent.silent) announce(reactions.agentBack, agent);
}

export interface HeartbeatAnswer {
  readonly suspended: boolean;
  readonly policyVersion: string;
}

/** The agent tells that it is alive, and hears whether it is suspended and which policies are in force. */
export function heartbeat(gov: Tenancy, claim: AgentId | undefined, token: string): HeartbeatAnswer {
  const agent = authenticateAgent(gov, claim, token);
  agent.lastSeenAt = gov.clock.now();
  return { suspended: agent.record.suspension !== null, policyVersion: gov.policies.version };
}
