import type { Agent, ConnectionEvent, Reeve } from '@reeve/sdk';
import { ReeveUnauthenticated } from '@reeve/sdk';
import type { ResolvedAgent } from './resolve-agent.ts';
import { refusedToken } from './resolve-agent.ts';

export interface Attaching {
  readonly onConnection: (event: ConnectionEvent) => void;
  readonly onRevoked?: () => void;
}

/** The agent, beside other processes that act as the same one. Its token is followed while it lasts. */
export async function attachedAgent(
  reeve: Reeve,
  { token, life, agentId, next, advice }: ResolvedAgent,
  events: Attaching,
): Promise<Agent> {
  const how = { ...events, token, shared: true, nextToken: next };
  try {
    if (agentId === undefined) return await reeve.agent(how);
    return reeve.attach({ ...agentId, ...how, tokenLife: life });
  } catch (error) {
    if (!(error instanceof ReeveUnauthenticated)) throw error;
    throw new ReeveUnauthenticated(refusedToken(error.message, advice));
  }
}
