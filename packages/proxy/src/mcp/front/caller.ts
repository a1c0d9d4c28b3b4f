import type { Agent } from '@reeve/sdk';
import type { Person } from '../person.ts';

/** Who sent a request: an agent by its own token, or a person who acts as an agent. */
export interface Caller {
  readonly agent: Agent;
  readonly person: Person | undefined;
  /** Fires when the token of the agent stops working. */
  readonly refused: AbortSignal;
  /** Up to when the token of the person is accepted, in milliseconds of the epoch. */
  readonly acceptedUntil: number | undefined;
  /** The same for the same agent and person, and for nobody else. */
  readonly key: string;
}

export function callerOf(agent: Agent, refused: AbortSignal, person?: Person, acceptedUntil?: number): Caller {
  const { orgId, teamId, agentId } = agent.id;
  const key = JSON.stringify([
    orgId,
    teamId,
    agentId,
    ...(person === undefined ? [] : [person.issuer, person.subject]),
  ]);
  return { agent, refused, person, acceptedUntil, key };
}

/** Whether what one began is the other's as well. Tokens come and go: the agent and the person count. */
export function isSameCaller(one: Caller, other: Caller): boolean {
  return one.key === other.key;
}
