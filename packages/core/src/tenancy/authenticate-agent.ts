import type { Governance } from '../governance.ts';
import { ReeveError } from '../kernel/errors.ts';
import type { Agent } from './agent.ts';
import type { AgentId } from './agent-id.ts';
import { parseAgentId } from './agent-id.ts';
import { identify } from './identify.ts';

/** The registered agent behind a call other than a check. A suspended one may still report and hear. */
export function authenticateAgent(gov: Governance, claim: AgentId | undefined, token: string): Agent {
  const id = parseAgentId(claim);
  const identity = identify(gov.directory, gov.sha256, id, token);
  if (identity.known) return identity.agent;
  if (identity.reason === 'agent is suspended' && identity.claimed !== undefined) return identity.claimed;
  throw new ReeveError('unauthenticated', identity.reason);
}
