import { noteAlive } from '../control/note-alive.ts';
import type { Governance } from '../governance.ts';
import { ReeveError } from '../kernel/errors.ts';
import type { Agent } from './agent.ts';
import type { AgentId } from '../kernel/agent-id.ts';
import { parseAgentId } from '../kernel/agent-id.ts';
import { identify, provenAgent } from './identify.ts';

/** The registered agent behind a call other than a check. One that is suspended or blocked may still report and hear. */
export function authenticateAgent(gov: Governance, claim: AgentId | undefined, token: string): Agent {
  const id = parseAgentId(claim);
  const identity = identify(gov.directory, gov.sha256, id, token);
  const agent = provenAgent(identity);
  if (agent === undefined) throw new ReeveError('unauthenticated', identity.known ? '' : identity.reason);
  noteAlive(gov, agent);
  return agent;
}
