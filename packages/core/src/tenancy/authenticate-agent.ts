import type { AgentId } from '../kernel/agent-id.ts';
import { parseAgentId } from '../kernel/agent-id.ts';
import { announce } from '../kernel/announce.ts';
import { ReeveError } from '../kernel/errors.ts';
import type { Agent } from './agent.ts';
import { identify, provenAgent } from './identify.ts';
import type { Tenancy } from './tenancy.ts';

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
