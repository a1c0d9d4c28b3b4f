import type { Tenancy } from './tenancy.ts';
import type { AgentId } from '../kernel/agent-id.ts';
import { authenticateAgent } from './authenticate-agent.ts';

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
