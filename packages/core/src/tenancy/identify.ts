import type { Sha256 } from '../kernel/ports.ts';
import { equalInConstantTime } from '../kernel/ports.ts';
import type { Agent } from './agent.ts';
import { isRegistered } from './agent.ts';
import type { AgentId } from '../kernel/agent-id.ts';
import type { AgentDirectory } from './directory.ts';

export type IdentityRefusal =
  | 'missing credential token'
  | 'credential token mismatch'
  | 'credential token registered to a different agent'
  | 'agent is not registered'
  | 'agent is suspended'
  | 'agent has not confirmed a stop';

export type Identity =
  | { readonly known: true; readonly agent: Agent }
  | {
      readonly known: false;
      readonly reason: IdentityRefusal;
      /** The registered agent that was claimed, where there is one. */
      readonly claimed: Agent | undefined;
      /** The agent that the presented token really belongs to, where it is another one. */
      readonly owner: Agent | undefined;
    };

/** The agent that a refusal is about where its token is right, and it is kept from acting all the same. */
export function provenAgent(identity: Identity): Agent | undefined {
  if (identity.known) return identity.agent;
  const held = identity.reason === 'agent is suspended' || identity.reason === 'agent has not confirmed a stop';
  return held ? identity.claimed : undefined;
}

/**
 * Tells whether the presented token belongs to the claimed agent (spec, "Cross-org check"): first by the claimed
 * triple, and where that fails by the token's reverse index, which finds the real owner of a borrowed token.
 */
export function identify(directory: AgentDirectory, sha256: Sha256, claim: AgentId, token: string): Identity {
  const found = directory.find(claim);
  const claimed = found !== undefined && isRegistered(found) ? found : undefined;
  if (token === '') return { known: false, reason: 'missing credential token', claimed, owner: undefined };

  const presented = sha256(token);
  const expected = claimed?.record.tokenHash;
  if (claimed !== undefined && expected != null && equalInConstantTime(presented, expected)) {
    if (claimed.record.suspension !== null) {
      return { known: false, reason: 'agent is suspended', claimed, owner: undefined };
    }
    if (claimed.blocked) {
      return { known: false, reason: 'agent has not confirmed a stop', claimed, owner: undefined };
    }
    return { known: true, agent: claimed };
  }

  const owner = directory.ownerOf(presented);
  if (owner !== undefined) {
    return { known: false, reason: 'credential token registered to a different agent', claimed, owner };
  }
  const reason = claimed === undefined ? 'agent is not registered' : 'credential token mismatch';
  return { known: false, reason, claimed, owner: undefined };
}
